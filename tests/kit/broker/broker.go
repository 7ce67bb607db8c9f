// Package broker starts brokers that live as long as a test does, with their data in its directory.
package broker

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// T is what a broker needs of a test, or of a benchmark that is none.
type T interface {
	Helper()
	Context() context.Context
	TempDir() string
	Cleanup(func())
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// Process is a broker that a test can kill and start again, with the same port and data.
type Process struct {
	t       T
	address string
	dir     string
	program string
	args    []string
	env     []string
	command *exec.Cmd
	stdin   io.Closer
	output  output

	certificate string
}

// output is what a process printed.
type output struct {
	sync.Mutex
	bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.Lock()
	defer o.Unlock()
	return o.Buffer.Write(b)
}

// The shell ends all of its process group when its input does: when the test's process is gone, whatever the reason.
const guard = `trap '' USR1; "$@" & read -r _; kill -9 0`

// find returns the path of a program, which lies where the system's administrator alone has it in the search path.
func find(t T, name string, dirs ...string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil && len(dirs) == 0 {
		return path
	}
	for _, dir := range append(dirs, "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/sbin") {
		if path := filepath.Join(dir, name); isFile(path) {
			return path
		}
	}
	t.Fatalf("%s is missing: .ci/deps-relay installs it", name)
	return ""
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Port is a port that nothing listens at.
func Port(t T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
}

// start runs a program that listens at a port, and kills it when the test ends.
func start(t T, dir, port string, env []string, program string, args ...string) *Process {
	t.Helper()
	p := &Process{t: t, dir: dir, address: "127.0.0.1:" + port, program: program, args: args, env: env}
	p.Start()
	t.Cleanup(func() {
		if p.command != nil {
			p.Kill()
		}
	})
	return p
}

// Address is the host and the port of the broker.
func (p *Process) Address() string { return p.address }

// Dir is where the broker's data is.
func (p *Process) Dir() string { return p.dir }

// Certificate is the file of the certificate of localhost that the broker shows, if it listens with TLS.
func (p *Process) Certificate() string { return p.certificate }

// Save has Mosquitto write its state to disk, which it does some time after it confirmed documents, and waits until it has. The shell ignores the signal.
func (p *Process) Save() {
	p.t.Helper()
	before := time.Now()
	p.signal(syscall.SIGUSR1)
	for deadline := before.Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if info, err := os.Stat(filepath.Join(p.dir, "mosquitto.db")); err == nil && info.ModTime().After(before) {
			return
		}
		if time.Now().After(deadline) {
			p.t.Fatal("the broker saves nothing")
		}
	}
}

// Stall stops the broker, which keeps its connections, until Resume.
func (p *Process) Stall() { p.signal(syscall.SIGSTOP) }

// Resume lets the broker go on.
func (p *Process) Resume() { p.signal(syscall.SIGCONT) }

func (p *Process) signal(signal syscall.Signal) {
	p.t.Helper()
	if err := syscall.Kill(-p.command.Process.Pid, signal); err != nil {
		p.t.Fatal(err)
	}
}

// Start starts the broker again and waits until it accepts connections.
func (p *Process) Start() {
	p.t.Helper()
	p.command = exec.Command("/bin/sh", append([]string{"-c", guard, "sh", p.program}, p.args...)...)
	p.command.Env = append(os.Environ(), p.env...)
	p.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.command.Stdout, p.command.Stderr = &p.output, &p.output
	var err error
	if p.stdin, err = p.command.StdinPipe(); err != nil {
		p.t.Fatal(err)
	}
	if err := p.command.Start(); err != nil {
		p.t.Fatal(err)
	}
	if err := Await(p.address); err != nil {
		p.output.Lock()
		defer p.output.Unlock()
		p.t.Fatalf("%s: %v:\n%s", p.program, err, p.output.String())
	}
}

// Await waits until something listens at an address.
func Await(address string) error {
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		connection, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			return connection.Close()
		}
		if time.Now().After(deadline) {
			return err
		}
	}
}

// Kill ends the broker at once, as a power failure does.
func (p *Process) Kill() {
	p.t.Helper()
	if err := syscall.Kill(-p.command.Process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		p.t.Fatal(err)
	}
	_ = p.command.Wait() // killed
	p.command = nil
}

// NoLeaks fails the test, in its end, unless all goroutines that began since have ended.
func NoLeaks(t T) {
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		for deadline := time.Now().Add(3 * time.Second); runtime.NumGoroutine() > before; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				stacks := make([]byte, 1<<20)
				t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
			}
		}
	})
}

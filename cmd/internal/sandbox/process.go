package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// process is a running program that this process started.
type process struct {
	*os.Process
	done chan struct{} // closed when it has ended
}

// spawner starts processes from a thread that never ends. Linux signals a child
// of its parent's death when the thread that started it ends, and Go ends
// threads as it likes.
var spawner = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

// Spawn starts a program as the user that the server runs as, and sees to it
// that the program gets SIGQUIT, which ends it, when this process ends. The
// caller waits for it with cmd.Wait.
func (s *Server) Spawn(cmd *exec.Cmd) error {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Credential = s.account
	cmd.SysProcAttr.Setpgid = true // an interrupt from the keyboard is for us alone
	dieWithParent(cmd.SysProcAttr)
	result := make(chan error)
	spawner() <- func() { result <- cmd.Start() }
	if err := <-result; err != nil {
		return err
	}
	return watchParent(cmd.Process.Pid)
}

// start runs the postmaster and waits until it accepts connections.
func (s *Server) start(ctx context.Context) error {
	log, err := os.OpenFile(s.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	cmd := exec.Command(filepath.Join(s.Bin, "postgres"), s.arguments()...)
	cmd.Dir = s.dir
	// Libraries in the server that connect as clients find their way home.
	cmd.Env = s.clientEnv()
	to := s.logWriter(log)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = to, to, time.Second
	if err := s.Spawn(cmd); err != nil {
		log.Close()
		return err
	}
	p := &process{cmd.Process, make(chan struct{})}
	go func() {
		cmd.Wait()
		log.Close()
		close(p.done)
	}()
	s.running = p
	return s.awaitReady(ctx, p)
}

func (s *Server) logWriter(file *os.File) io.Writer {
	if s.opts.Log == nil {
		return file
	}
	return io.MultiWriter(file, s.opts.Log)
}

// awaitReady waits for the word that the postmaster leaves in its pid file.
func (s *Server) awaitReady(ctx context.Context, p *process) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for !s.ready(p.Pid) {
		select {
		case <-p.done:
			s.running = nil
			return fmt.Errorf("PostgreSQL %s did not start:\n%s", s.Version, s.LogTail(10))
		case <-ctx.Done():
			return fmt.Errorf("PostgreSQL %s is not ready: %w\n%s", s.Version, ctx.Err(), s.LogTail(10))
		case <-time.After(5 * time.Millisecond):
		}
	}
	return nil
}

func (s *Server) ready(pid int) bool {
	text, err := os.ReadFile(filepath.Join(s.DataDir(), "postmaster.pid"))
	lines := strings.Split(string(text), "\n")
	return err == nil && len(lines) >= 8 && lines[0] == itoa(pid) && strings.TrimSpace(lines[7]) == "ready"
}

// PID is the postmaster's process id, 0 while the server is down.
func (s *Server) PID() int {
	if s.running == nil {
		return 0
	}
	return s.running.Pid
}

// Stop shuts the server down in fast mode: clients are thrown out, data is
// written. It does nothing if the server is down.
func (s *Server) Stop() error { return s.end(syscall.SIGINT) }

// Immediate shuts the server down as if the machine had lost power, in order:
// the next start recovers from the log.
func (s *Server) Immediate() error { return s.end(syscall.SIGQUIT) }

func (s *Server) end(signal syscall.Signal) error {
	p := s.running
	if p == nil {
		return nil
	}
	if err := p.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.done:
	case <-time.After(time.Minute):
		return fmt.Errorf("PostgreSQL %d does not stop:\n%s", p.Pid, s.LogTail(10))
	}
	s.running = nil
	return nil
}

// KillAll kills the postmaster and all its children with SIGKILL, as a crash
// of the whole machine would, and returns when they are gone.
func (s *Server) KillAll() error {
	p := s.running
	if p == nil {
		return nil
	}
	if p.Signal(syscall.SIGSTOP) != nil { // so that it forks no more
		return s.Immediate() // it has ended by itself
	}
	// The signal takes a moment: a process that is forked meanwhile could not be found once its parent is dead.
	for deadline := time.Now().Add(time.Minute); !stopped(p.Pid) && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	children, err := childrenOf(p.Pid)
	for _, pid := range append(children, p.Pid) {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	if err != nil {
		return err
	}
	<-p.done
	s.running = nil
	return awaitGone(children)
}

// awaitGone waits until processes no longer run. Without it a new postmaster
// would find their shared memory in use.
func awaitGone(pids []int) error {
	deadline := time.Now().Add(time.Minute)
	for _, pid := range pids {
		for alive(pid) {
			if time.Now().After(deadline) {
				return fmt.Errorf("process %d survives SIGKILL", pid)
			}
			time.Sleep(time.Millisecond)
		}
	}
	return nil
}

// Restart starts the server again on the same data, after a fast stop if it is up.
func (s *Server) Restart() error {
	if err := s.Stop(); err != nil {
		return err
	}
	return s.start(context.Background())
}

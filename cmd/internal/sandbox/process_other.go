//go:build unix && !linux

package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// dieWithParent has nothing to ask of this kernel; watchParent does the work.
func dieWithParent(*syscall.SysProcAttr) {}

// watchParent leaves a shell behind that ends pid when this process has ended,
// and itself when pid has.
func watchParent(pid int) error {
	const script = `while kill -0 $1 && kill -0 $2; do sleep 1; done; kill -QUIT $2`
	cmd := exec.Command("sh", "-c", script, "sh", itoa(os.Getpid()), itoa(pid))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	go cmd.Wait()
	return nil
}

// childrenOf lists the children of a process.
func childrenOf(parent int) ([]int, error) {
	out, err := exec.Command("ps", "-A", "-o", "pid=,ppid=").Output()
	var pids []int
	for _, line := range strings.Split(string(out), "\n") {
		var pid, ppid int
		if n, _ := fmt.Sscan(line, &pid, &ppid); n == 2 && ppid == parent {
			pids = append(pids, pid)
		}
	}
	return pids, err
}

// alive reports whether a process exists.
func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

// stopped reports whether SIGSTOP has stopped a process, or it has ended.
func stopped(pid int) bool {
	out, err := exec.Command("ps", "-o", "state=", "-p", itoa(pid)).Output()
	return err != nil || strings.HasPrefix(strings.TrimSpace(string(out)), "T")
}

package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// dieWithParent asks the kernel to end the child when the parent ends.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGQUIT }

// watchParent has nothing to do where the kernel watches.
func watchParent(int) error { return nil }

// childrenOf lists the children of a process.
func childrenOf(parent int) ([]int, error) {
	entries, err := filepath.Glob("/proc/[0-9]*")
	var pids []int
	for _, entry := range entries {
		pid, _ := strconv.Atoi(filepath.Base(entry))
		if _, ppid, err := status(pid); err == nil && ppid == parent {
			pids = append(pids, pid)
		}
	}
	return pids, err
}

// alive reports whether a process runs; one that only waits to be reaped does not.
func alive(pid int) bool {
	state, _, err := status(pid)
	return err == nil && state != 'Z' && state != 'X'
}

// stopped reports whether SIGSTOP has stopped a process, or it has ended.
func stopped(pid int) bool {
	state, _, err := status(pid)
	return err != nil || state == 'T' || !alive(pid)
}

// status reads state and parent; the name before them may hold anything.
func status(pid int) (state byte, ppid int, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, err
	}
	_, err = fmt.Sscanf(string(text[bytes.LastIndexByte(text, ')')+1:]), " %c %d", &state, &ppid)
	return state, ppid, err
}

// Package names gives consumers names that no other relay of their host has.
package names

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Name is a consumer's name, until it is released or the process ends.
type Name struct {
	Text string
	lock *os.File // nil: the name holds the process's id
}

// Take returns a name, or that of this host without one, and what is behind it: the same for a process that starts again, and with a number where another one has
// it in the scope. A lock of a file in the directory for temporary ones tells, which ends with the process.
func Take(scope, own, behind string) (Name, error) {
	if own == "" {
		var err error
		if own, err = os.Hostname(); err != nil {
			return Name{}, fmt.Errorf("the host has no name; set consumer: in the configuration: %w", err)
		}
	}
	own += behind
	for n := 1; ; n++ {
		name := Name{Text: own}
		if n > 1 {
			name.Text = fmt.Sprintf("%s-%d", name.Text, n)
		}
		file := fmt.Sprintf("sluice-%d-%x.lock", os.Getuid(), sha256.Sum256([]byte(scope+"\x00"+name.Text)))
		var err error
		name.lock, err = os.OpenFile(filepath.Join(os.TempDir(), file), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
		if err != nil { // no directory to write to, as in some containers
			return Name{Text: fmt.Sprintf("%s-%d", own, os.Getpid())}, nil
		}
		if syscall.Flock(int(name.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			return name, nil
		}
		_ = name.lock.Close()
	}
}

// Release lets others have the name. The file stays: another process may be about to lock it.
func (n Name) Release() {
	if n.lock != nil {
		_ = n.lock.Close()
	}
}

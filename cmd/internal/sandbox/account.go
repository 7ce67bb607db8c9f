package sandbox

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// serverAccount returns the user that servers run as: nil for the caller
// itself, and another one when the caller is root.
func serverAccount() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			return credential(u)
		}
	}
	return nil, fmt.Errorf("PostgreSQL does not run as root, and there is neither a user postgres nor nobody: add one")
}

func credential(u *user.User) (*syscall.Credential, error) {
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

// own gives a file to the user that servers run as.
func own(path string, account *syscall.Credential) error {
	if account == nil {
		return nil
	}
	return os.Chown(path, int(account.Uid), int(account.Gid))
}

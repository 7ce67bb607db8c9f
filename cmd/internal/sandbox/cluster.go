package sandbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// newCluster makes a data directory at data, owned by account: a copy of one that initdb made for any process before,
// which takes a tenth of the time.
func newCluster(ctx context.Context, in Install, account *syscall.Credential, data string) error {
	from, err := masterCluster(ctx, in, account)
	if err != nil { // the cache cannot be written: the user has no home, or it is read-only
		return initCluster(ctx, in, account, data)
	}
	_, err = output(ctx, "", "cp", "-a", from, data)
	return err
}

// masterCluster returns the data directory in the cache that initdb made for this account with these binaries, or with copies of them. It makes one if none
// is there.
func masterCluster(ctx context.Context, in Install, account *syscall.Credential) (string, error) {
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	program, err := os.Stat(filepath.Join(in.Bin, "postgres"))
	if err != nil {
		return "", err
	}
	uid := os.Geteuid()
	if account != nil {
		uid = int(account.Uid)
	}
	dir := filepath.Join(cache, fmt.Sprintf("cluster-%s-%d-%d", in.Version, program.Size(), uid))
	return dir, locked(dir+".lock", func() error {
		if _, err := os.Stat(dir); err == nil {
			return nil
		}
		return cacheCluster(ctx, in, account, dir)
	})
}

// cacheCluster runs initdb in a directory of the account and copies the result into the cache. A rename makes it visible, so a killed process leaves no part
// of it.
func cacheCluster(ctx context.Context, in Install, account *syscall.Credential, dir string) error {
	parent, err := newDir(account)
	if err != nil {
		return err
	}
	defer os.RemoveAll(parent)
	data := filepath.Join(parent, "data")
	if err := initCluster(ctx, in, account, data); err != nil {
		return err
	}
	part := dir + ".part"
	if err := os.RemoveAll(part); err != nil {
		return err
	}
	if _, err := output(ctx, "", "cp", "-a", data, part); err != nil {
		return err
	}
	return os.Rename(part, dir)
}

// initCluster runs initdb with locale C.UTF-8, and with C where that is missing.
func initCluster(ctx context.Context, in Install, account *syscall.Credential, dir string) error {
	err := initdb(ctx, in, "C.UTF-8", account, dir)
	if err != nil && strings.Contains(err.Error(), "invalid locale") {
		err = initdb(ctx, in, "C", account, dir)
	}
	return err
}

func initdb(ctx context.Context, in Install, locale string, account *syscall.Credential, dir string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(in.Bin, "initdb"), "-D", dir, "-U", "postgres", "-A", "trust", "-E", "UTF8",
		"--locale", locale, "--no-sync", "--no-instructions")
	cmd.Dir = filepath.Dir(dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: account}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

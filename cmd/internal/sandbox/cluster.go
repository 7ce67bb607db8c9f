package sandbox

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// clusters are the data directories that initdb made in this process, by the
// binaries and arguments that made them. Copying one takes a tenth of the time.
var clusters struct {
	sync.Mutex
	dirs map[string]string
}

func forgetClusters() {
	clusters.Lock()
	defer clusters.Unlock()
	clusters.dirs = nil
}

// newCluster makes a data directory at data, owned by account.
func newCluster(ctx context.Context, in Install, args []string, account *syscall.Credential, data string) error {
	from, err := masterCluster(ctx, in, args, account)
	if err != nil {
		return err
	}
	_, err = output(ctx, "", "cp", "-a", from, data)
	return err
}

func masterCluster(ctx context.Context, in Install, args []string, account *syscall.Credential) (string, error) {
	clusters.Lock()
	defer clusters.Unlock()
	key := in.Bin + "\x00" + strings.Join(args, "\x00")
	if dir := clusters.dirs[key]; dir != "" {
		return dir, nil
	}
	parent, err := newDir(account)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(parent, "data")
	if err := initCluster(ctx, in, args, account, dir); err != nil {
		return "", err
	}
	if clusters.dirs == nil {
		clusters.dirs = map[string]string{}
	}
	clusters.dirs[key] = dir
	return dir, nil
}

// initCluster runs initdb with locale C.UTF-8, and with C where that is missing.
func initCluster(ctx context.Context, in Install, args []string, account *syscall.Credential, dir string) error {
	err := initdb(ctx, in, "C.UTF-8", args, account, dir)
	if err != nil && strings.Contains(err.Error(), "invalid locale") {
		err = initdb(ctx, in, "C", args, account, dir)
	}
	return err
}

func initdb(ctx context.Context, in Install, locale string, args []string, account *syscall.Credential, dir string) error {
	all := append([]string{
		"-D", dir, "-U", "postgres", "-A", "trust", "-E", "UTF8",
		"--locale", locale, "--no-sync", "--no-instructions"}, args...)
	cmd := exec.CommandContext(ctx, filepath.Join(in.Bin, "initdb"), all...)
	cmd.Dir = filepath.Dir(dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: account}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

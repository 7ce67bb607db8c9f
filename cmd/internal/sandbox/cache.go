package sandbox

import (
	"os"
	"path/filepath"
	"syscall"
)

// cacheDir returns the directory that keeps downloaded binaries. The server may
// run as another user than the caller, so every parent must let that user pass:
// root's own cache, below a home that is closed to others, will not do.
// SLUICE_CACHE_DIR overrides the choice.
func cacheDir() (string, error) {
	if dir := os.Getenv("SLUICE_CACHE_DIR"); dir != "" {
		return dir, os.MkdirAll(dir, 0o755)
	}
	base, err := os.UserCacheDir()
	if os.Geteuid() == 0 && (err != nil || !open(base)) {
		base, err = "/var/cache", nil
	}
	if err != nil {
		return "", err
	}
	dir := filepath.Join(base, "sluice")
	return dir, os.MkdirAll(dir, 0o755)
}

// open reports whether any user may pass through dir and all its parents. Parts
// that do not exist yet are made open by us.
func open(dir string) bool {
	for ; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && info.Mode().Perm()&0o001 == 0 {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
	}
}

// locked runs f while no other process runs a function under the same lock file.
func locked(path string, f func() error) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	return f()
}

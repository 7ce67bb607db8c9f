package sandbox

import (
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	scratchPrefix = "sluice-sandbox-"
	scratchLock   = "lock"
	// longestBase leaves room for a server's number and its socket's name in
	// the 104 bytes that a socket's path may have.
	longestBase = 60
)

// scratch is where this process keeps its servers. The process holds a lock in it for as long as it lives.
var scratch struct {
	sync.Mutex
	dir     string
	lock    *os.File
	count   int
	servers map[*Server]bool
}

// newDir makes a directory for one server, or for initdb.
func newDir(account *syscall.Credential) (string, error) {
	scratch.Lock()
	defer scratch.Unlock()
	if scratch.dir == "" {
		if err := makeScratch(); err != nil {
			return "", err
		}
	}
	scratch.count++
	dir := filepath.Join(scratch.dir, itoa(scratch.count))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	return dir, own(dir, account)
}

func makeScratch() error {
	base := scratchBase()
	sweep(base, time.Minute)
	dir, err := os.MkdirTemp(base, scratchPrefix)
	if err != nil {
		return err
	}
	if err := os.Chmod(dir, 0o711); err != nil { // servers of another user pass through
		return err
	}
	lock, err := tryLock(filepath.Join(dir, scratchLock))
	if err != nil {
		return err
	}
	scratch.dir, scratch.lock, scratch.servers = dir, lock, map[*Server]bool{}
	return nil
}

// inMemory says that servers are made in memory where the system can do that.
var inMemory atomic.Bool

// InMemory makes servers that start from now on keep their data in a file system in memory, if the system has one with
// enough room, and so do the temporary files of this process: on ext4 a new file takes up to 2 ms of processor time. Tests call it, because they write
// much and keep nothing. Processes may be killed as before; only the end of the machine itself, which no test tries, would differ. SLUICE_TEST_DISK=1
// keeps all on disk.
func InMemory() {
	if os.Getenv("SLUICE_TEST_DISK") != "" {
		return
	}
	inMemory.Store(true)
	if dir := memoryDir(); dir != "" && runsPrograms(dir) {
		os.Setenv("TMPDIR", dir)
	}
}

// scratchBase is the temporary directory, unless that is too long for a socket
// or closed to the user that servers run as.
func scratchBase() string {
	if inMemory.Load() {
		if dir := memoryDir(); dir != "" {
			return dir
		}
	}
	dir := os.TempDir()
	if len(dir) > longestBase || os.Geteuid() == 0 && !open(dir) {
		return "/tmp"
	}
	return dir
}

// sweep removes what processes left behind that were killed: our directories
// older than age whose lock nobody holds.
func sweep(base string, age time.Duration) {
	dirs, _ := filepath.Glob(filepath.Join(base, scratchPrefix+"*"))
	for _, dir := range dirs {
		info, err := os.Lstat(dir)
		if err != nil || !ours(info) || time.Since(info.ModTime()) < age {
			continue
		}
		if lock, err := tryLock(filepath.Join(dir, scratchLock)); err == nil {
			os.RemoveAll(dir)
			lock.Close()
		}
	}
}

// ours reports whether we made a directory; a link or another user's may lead anywhere.
func ours(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.IsDir() && int(stat.Uid) == os.Geteuid()
}

// tryLock takes a lock file, or fails at once if another process holds it.
func tryLock(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

func register(s *Server) {
	scratch.Lock()
	defer scratch.Unlock()
	scratch.servers[s] = true
}

func unregister(s *Server) {
	scratch.Lock()
	defer scratch.Unlock()
	delete(scratch.servers, s)
}

// Cleanup closes every server of this process and removes all files of the
// package except downloaded binaries. Call it at the end of main or TestMain,
// and on a signal that ends the process; where that does not happen, the servers
// end all the same, and a later process removes their files.
func Cleanup() {
	for _, s := range openServers() {
		s.Close()
	}
	scratch.Lock()
	defer scratch.Unlock()
	if scratch.dir == "" {
		return
	}
	os.RemoveAll(scratch.dir)
	scratch.lock.Close()
	scratch.dir = ""
}

func openServers() []*Server {
	scratch.Lock()
	defer scratch.Unlock()
	var all []*Server
	for s := range scratch.servers {
		all = append(all, s)
	}
	return all
}

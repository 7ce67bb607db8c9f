package sandbox

import "syscall"

const (
	tmpfsMagic = 0x01021994
	// enough is what the servers of some test binaries hold at once.
	enough = 4 << 30
)

// memoryDir is a directory of the file system in memory, or "" where it is missing or small, as it is in many containers.
func memoryDir() string {
	const dir = "/dev/shm"
	var fs syscall.Statfs_t
	if syscall.Statfs(dir, &fs) != nil || fs.Type != tmpfsMagic || fs.Bavail*uint64(fs.Bsize) < enough || !writable(dir) {
		return ""
	}
	return dir
}

func writable(dir string) bool { return syscall.Access(dir, 2) == nil }

// runsPrograms reports whether programs may lie in a directory of memoryDir; in many containers they may not.
func runsPrograms(dir string) bool {
	const noexec = 0x8
	var fs syscall.Statfs_t
	return syscall.Statfs(dir, &fs) == nil && fs.Flags&noexec == 0
}

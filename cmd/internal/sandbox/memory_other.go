//go:build unix && !linux

package sandbox

// memoryDir is "": there is no file system in memory that every system of these has.
func memoryDir() string { return "" }

func runsPrograms(string) bool { return false }

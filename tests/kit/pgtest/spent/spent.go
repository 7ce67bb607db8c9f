// Package spent notes what test binaries spend processor time on, for brief -times.
package spent

import (
	"encoding/json"
	"os"
	"syscall"
)

// File is the environment variable that names the file of entries, one JSON object a line. Nothing is noted where it is empty.
const File = "SLUICE_TEST_TIMES"

// Binary is the time of a whole test binary, with all that it started.
const Binary = "Go: tests, compiler, generator"

// Entry is a part of the time of a test binary.
type Entry struct {
	Package string // the directory
	On      string
	Seconds float64 // of processor time
}

// Wanted reports whether anybody reads what is noted.
func Wanted() bool { return os.Getenv(File) != "" }

// Note appends an entry. What cannot be noted is not: no test fails for it.
func Note(e Entry) {
	file, err := os.OpenFile(os.Getenv(File), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return
	}
	defer file.Close()
	line, _ := json.Marshal(e)
	_, _ = file.Write(append(line, '\n'))
}

// Children is the time of the processes that have ended and were waited for, with theirs.
func Children() float64 {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_CHILDREN, &usage) != nil {
		return 0
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

// Package program lets a test binary stand for the program sluice. Tests that start it, or kill it, need not build it.
package program

import (
	"os"
	"os/exec"
	"testing"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/ivm"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// Variable is what makes a test binary the program, in its environment.
const Variable = "SLUICE_TEST_PROGRAM"

// Main is pgtest.Main for packages whose tests start the program.
func Main(m *testing.M) {
	if os.Getenv(Variable) != "" {
		ivm.VerifyPasses()
		os.Exit(commandtest.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	pgtest.Main(m)
}

// Command is the program with some arguments.
func Command(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(Path(t), args...)
	cmd.Env = append(os.Environ(), Variable+"=1")
	return cmd
}

// Path is where the test binary is.
func Path(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Package program lets a test binary stand for the program sluice, which tests that start or kill it need not build then.
package program

import (
	"os"
	"os/exec"
	"testing"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/ivm"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// Variable is what makes a test binary the program sluice, in its environment.
const Variable = "SLUICE_TEST_PROGRAM"

// Main is pgtest.Main for packages whose tests start a program.
func Main(m *testing.M) {
	if os.Getenv(Variable) == "" {
		pgtest.Main(m)
	}
	ivm.VerifyPasses()
	os.Exit(commandtest.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// Command is sluice with some arguments.
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

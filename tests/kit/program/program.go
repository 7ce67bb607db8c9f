// Package program lets a test binary stand for the programs sluice and sluice-relay. Tests that start it, or kill it, need not build it.
package program

import (
	"os"
	"os/exec"
	"testing"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/ivm"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// Variable is what makes a test binary the program sluice, or the relay if its value is relay, in its environment.
const Variable = "SLUICE_TEST_PROGRAM"

const relay = "relay"

// Main is pgtest.Main for packages whose tests start a program.
func Main(m *testing.M) {
	switch os.Getenv(Variable) {
	case "":
		pgtest.Main(m)
	case relay:
		os.Exit(commandtest.Relay(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	default:
		ivm.VerifyPasses()
		os.Exit(commandtest.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
}

// Command is sluice with some arguments.
func Command(t testing.TB, args ...string) *exec.Cmd { return command(t, "1", args) }

// Relay is sluice-relay with some arguments.
func Relay(t testing.TB, args ...string) *exec.Cmd { return command(t, relay, args) }

func command(t testing.TB, program string, args []string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(Path(t), args...)
	cmd.Env = append(os.Environ(), Variable+"="+program)
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

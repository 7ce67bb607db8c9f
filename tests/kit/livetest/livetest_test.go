package livetest

import (
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// TestHarness shows each command once, with a command line that is none.
func TestHarness(t *testing.T) {
	Run(t, "testdata", options())
}

// TestHarnessThroughPgbouncer runs the scripts that leave nothing in a session.
func TestHarnessThroughPgbouncer(t *testing.T) {
	opts := options()
	opts.DSN = pgtest.Pgbouncer
	RunFile(t, "testdata/pooled.txtar", opts)
}

func options() Options {
	return Options{
		Main: echo,
		Commands: map[string]Command{
			"database": func(env *Env, _ *datadriven.TestData) string { return env.DB.Name },
		},
		Schema: "app",
	}
}

// echo prints its arguments, its input, and the file that its last argument names.
func echo(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	input, _ := io.ReadAll(stdin)
	fmt.Fprintf(stdout, "%q %q %s\n", args, input, os.Getenv("DATABASE_URL"))
	text, err := os.ReadFile(args[len(args)-1])
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	fmt.Fprintf(stdout, "%s", text)
	return 0
}

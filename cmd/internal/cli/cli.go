// Package cli is the command line: one file per command, each turning flags into one call.
package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/pgsluice/sluice/cmd/internal/process"
)

// Main runs the command line and returns the exit status. Results go to stdout, talk to stderr.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return process.Main(newRoot(), args, stdin, stdout, stderr)
}

func newRoot() *cobra.Command {
	root := process.Group(&cobra.Command{
		Use:   "sluice",
		Short: "Generates inboxes, outboxes and stream tables for PostgreSQL from a spec",
	}, newInit(), newSchema(), newSpec(), newGenerate(), newRelease(), newDiff(), newExplain(), newDocs(), newApply(), newUninstall(), newStatus(), newHistory(), newDeadLetters(), newUI(), newVerify(), newRun(), newRelay(), newDemo(), process.NewVersion("sluice"))
	flags := root.PersistentFlags()
	flags.StringP("file", "f", "specs", "spec `file or directory`")
	flags.StringP("out", "o", "out", "artifact `directory`")
	flags.String("dsn", "", "database `URL or key=value string` (default: environment variable DATABASE_URL)")
	process.AddCompletions(root, fixedValues, flagCompletions)
	return root
}

// option returns a global flag's value.
func option(cmd *cobra.Command, name string) string {
	value, err := cmd.Flags().GetString(name)
	if err != nil {
		panic("global flag: " + err.Error())
	}
	return value
}

// dsn returns the database to talk to; a command that needs one calls this before anything else.
func dsn(cmd *cobra.Command) (string, error) {
	if given := option(cmd, "dsn"); given != "" {
		return given, nil
	}
	if given := os.Getenv("DATABASE_URL"); given != "" {
		return given, nil
	}
	return "", process.Fail(process.Usage, fmt.Sprintf("sluice: %s needs a database: give --dsn or set DATABASE_URL\n", cmd.Name()))
}

// Package cli is the command line: one file per command, each turning flags into one call.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit statuses.
const (
	exitDone     = 0
	exitInput    = 1 // the input is wrong, or a check found a difference
	exitUsage    = 2
	exitDatabase = 3 // the database could not be reached, or refused
)

// exitError ends the process with a status after printing its message; an empty message prints nothing.
type exitError struct {
	code int
	msg  string
}

func (e exitError) Error() string { return e.msg }

// Main runs the command line and returns the exit status. Results go to stdout, talk to stderr.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	command, err := root.ExecuteContextC(ctx)
	return finish(command, err, stderr)
}

// finish prints an error and returns its status. What does not come from running a command is wrong usage.
func finish(command *cobra.Command, err error, stderr io.Writer) int {
	var exit exitError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &exit):
		fmt.Fprint(stderr, exit.msg)
		return exit.code
	default:
		fmt.Fprintf(stderr, "sluice: %v\nRun \"%s --help\" for usage.\n", err, command.CommandPath())
		return exitUsage
	}
}

func newRoot() *cobra.Command {
	root := group(&cobra.Command{
		Use:           "sluice",
		Short:         "Generates inboxes, outboxes and stream tables for PostgreSQL from a spec",
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}, newInit(), newSchema(), newSpec(), newGenerate(), newRelease(), newDiff(), newExplain(), newDocs(), newApply(), newUninstall(), newStatus(), newHistory(), newDeadLetters(), newUI(), newVerify(), newRun(), newRelay(), newDemo(), newVersion())
	root.SetVersionTemplate("sluice {{.Version}}\n")
	flags := root.PersistentFlags()
	flags.StringP("file", "f", "specs", "spec `file or directory`")
	flags.StringP("out", "o", "out", "artifact `directory`")
	flags.String("dsn", "", "database `URL or key=value string` (default: environment variable DATABASE_URL)")
	addCompletions(root)
	return root
}

// group makes a command that only holds others: alone it prints its help, and a name it does not know is wrong usage.
func group(parent *cobra.Command, children ...*cobra.Command) *cobra.Command {
	parent.AddCommand(children...)
	parent.SuggestionsMinimumDistance = 2
	parent.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		err := fmt.Errorf("unknown command %q for %q", args[0], cmd.CommandPath())
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			err = fmt.Errorf("%w; did you mean %q?", err, near[0])
		}
		return err
	}
	parent.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	return parent
}

// run adapts the body of a command: an error without a status of its own is wrong input.
func run(body func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		err := body(cmd, args)
		if exit := (exitError{}); err == nil || errors.As(err, &exit) {
			return err
		}
		return exitError{exitInput, fmt.Sprintf("sluice: %v\n", err)}
	}
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
	return "", exitError{exitUsage, fmt.Sprintf("sluice: %s needs a database: give --dsn or set DATABASE_URL\n", cmd.Name())}
}

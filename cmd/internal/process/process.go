// Package process is what the command lines of both programs, sluice and sluice-relay, have in common.
package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pgsluice/sluice/ivm/diag"
)

// Exit statuses.
const (
	Done     = 0
	Input    = 1 // the input is wrong, or a check found a difference
	Usage    = 2
	Database = 3 // the database could not be reached, or refused
)

// Error ends the process with a status after printing its message; an empty message prints nothing.
type Error struct {
	status  int
	message string
}

func (e Error) Error() string { return e.message }

// Fail returns an Error.
func Fail(status int, message string) error { return Error{status, message} }

// Main runs a command line and returns the exit status. Results go to stdout, talk to stderr.
func Main(root *cobra.Command, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.Version = Version()
	root.SetVersionTemplate(root.Name() + " {{.Version}}\n")
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	command, err := root.ExecuteContextC(ctx)
	return Finish(command, err, stderr)
}

// Finish prints an error and returns its status. What does not come from running a command is wrong usage.
func Finish(command *cobra.Command, err error, stderr io.Writer) int {
	var exit Error
	switch {
	case err == nil:
		return Done
	case errors.As(err, &exit):
		fmt.Fprint(stderr, exit.message)
		return exit.status
	default:
		fmt.Fprintf(stderr, "%s: %v\nRun \"%s --help\" for usage.\n", command.Root().Name(), err, command.CommandPath())
		return Usage
	}
}

// Run adapts the body of a command: an error without a status of its own is wrong input.
func Run(body func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		err := body(cmd, args)
		if exit := (Error{}); err == nil || errors.As(err, &exit) {
			return err
		}
		return Fail(Input, fmt.Sprintf("%s: %v\n", cmd.Root().Name(), err))
	}
}

// Group makes a command that only holds others: alone it prints its help, and a name it does not know is wrong usage.
func Group(parent *cobra.Command, children ...*cobra.Command) *cobra.Command {
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

// Problems is the message about problems of the input; undone says what was not done because of them.
func Problems(problems *diag.List, undone string) string {
	noun := "errors"
	count := len(problems.Errors())
	if count == 1 {
		noun = "error"
	}
	return fmt.Sprintf("%s\n%d %s; %s\n", problems, count, noun, undone)
}

// NewVersion returns the command that prints the version of a program.
func NewVersion(program string) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Prints the version of " + program,
		Args:  cobra.NoArgs,
		RunE: Run(func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s %s\n", program, Version())
			return err
		}),
	}
}

// Version is the module's version as Go stamped it into the program, and the commit that it was built from, if Go knows it.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return devel
	}
	text := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			text += ", commit " + s.Value[:min(12, len(s.Value))]
		}
	}
	return text
}

// Release is the module's version alone. It is empty where Go stamped none into the program.
func Release() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == devel {
		return ""
	}
	return info.Main.Version
}

// StartedBy is the environment variable by which sluice gives its release to the relay that it starts.
const StartedBy = "SLUICE_STARTED_BY"

// devel is the version of a program that was not built from a version of the module.
const devel = "(devel)"

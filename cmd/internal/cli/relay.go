package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pgsluice/sluice/cmd/internal/process"
)

const relayProgram = "sluice-relay"

func newRelay() *cobra.Command {
	return &cobra.Command{
		Use:   "relay [argument]...",
		Short: "Moves events between outboxes, inboxes and brokers, by the program sluice-relay",
		Long: "Runs sluice-relay with the same arguments. That program is installed beside sluice, or is in PATH. To install it:\n" +
			"  " + installRelay(),
		Example: `  sluice relay check --config relay.yaml
  sluice relay --dry-run 5
  sluice relay --config relay.yaml --log-format json --log-level warn`,
		DisableFlagParsing: true,
		ValidArgsFunction:  completeRelay,
		RunE:               process.Run(execRelay),
	}
}

// installRelay is the command that installs the relay of the version of this program, or the latest one where this has none that go install knows.
func installRelay() string {
	version := process.Release()
	if version == "" || strings.Contains(version, "+") {
		version = "latest"
	}
	return "go install github.com/pgsluice/sluice/cmd/sluice-relay@" + version
}

// execRelay replaces the process by the relay, so signals and the exit status are those of the relay.
func execRelay(cmd *cobra.Command, args []string) error {
	path, err := findRelay()
	if err != nil {
		if slices.Contains(args, "--help") || slices.Contains(args, "-h") {
			return cmd.Help()
		}
		return fmt.Errorf("%s is neither beside sluice nor in PATH; install it: %s", relayProgram, installRelay())
	}
	env := append(os.Environ(), process.StartedBy+"="+process.Release())
	signal.Reset()
	if cmd.Context().Err() != nil {
		return errors.New("interrupted")
	}
	return fmt.Errorf("%s: %w", path, syscall.Exec(path, append([]string{relayProgram}, args...), env))
}

// findRelay returns the path of the relay: beside this program, or in PATH.
func findRelay() (string, error) {
	if self, err := os.Executable(); err == nil {
		if path, err := exec.LookPath(filepath.Join(filepath.Dir(self), relayProgram)); err == nil {
			return path, nil
		}
	}
	return exec.LookPath(relayProgram)
}

// completeRelay asks the relay, where it is installed. The last line of its answer is a directive.
func completeRelay(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	path, err := findRelay()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	answer, err := exec.Command(path, slices.Concat([]string{cobra.ShellCompRequestCmd}, args, []string{typed})...).Output()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	lines := strings.Split(strings.TrimSuffix(string(answer), "\n"), "\n")
	last := len(lines) - 1
	directive, err := strconv.Atoi(strings.TrimPrefix(lines[last], ":"))
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return lines[:last], cobra.ShellCompDirective(directive)
}

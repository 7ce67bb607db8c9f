// Package cli is the command line of the relay.
package cli

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pgsluice/sluice/cmd/internal/process"
	"github.com/pgsluice/sluice/cmd/internal/relay"
	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/ivm/diag"
)

// options are flags of the relay and of its subcommands.
type options struct{ config, dsn, logFormat, logLevel string }

// Main runs the command line and returns the exit status. Results go to stdout, talk to stderr.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return process.Main(newRoot(), args, stdin, stdout, stderr)
}

// fixedValues are what flags take, by their names.
var fixedValues = map[string][]string{"log-format": process.LogFormats, "log-level": process.LogLevels}

func newRoot() *cobra.Command {
	var o options
	dry := 0
	root := &cobra.Command{
		Use:   "sluice-relay",
		Short: "Moves events between outboxes, inboxes and brokers",
		Long: "Runs the pipelines of a configuration until it is interrupted. It then finishes the events in progress and gives back the others.\n" +
			"Several may run at once, and share consumer groups. A configuration that changes is read again, on SIGHUP too.",
		Example: `  sluice-relay check --config relay.yaml
  sluice-relay --dry-run 5
  sluice-relay --config relay.yaml --log-format json --log-level warn`,
		Args: cobra.NoArgs,
		RunE: process.Run(func(cmd *cobra.Command, _ []string) error {
			r, load, err := o.relay(cmd)
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("dry-run") {
				if dry < 1 {
					return process.Fail(process.Usage, "sluice-relay: --dry-run is 1 at least\n")
				}
				return databaseError(r.Dry(cmd.Context(), dry))
			}
			collectLess()
			hangUp := make(chan os.Signal, 1)
			signal.Notify(hangUp, syscall.SIGHUP)
			defer signal.Stop(hangUp)
			return databaseError(r.Run(cmd.Context(), relay.Watch(cmd.Context(), o.config, hangUp, load, r.Log)))
		}),
	}
	flags := root.PersistentFlags()
	flags.StringVarP(&o.config, "config", "c", "relay.yaml", "configuration `file`")
	flags.StringVar(&o.logFormat, "log-format", "text", "text or json")
	flags.StringVar(&o.logLevel, "log-level", "info", "debug, info, warn or error")
	root.Flags().IntVar(&dry, "dry-run", 0, "print up to `n` documents that each pipeline from an outbox would send next, and send nothing")
	flags.StringVar(&o.dsn, "dsn", "", "database `URL or key=value string` (default: that of the configuration, or environment variable DATABASE_URL)")
	root.AddCommand(newCheck(&o), process.NewVersion("sluice-relay"))
	process.AddCompletions(root, fixedValues, map[string]cobra.CompletionFunc{
		"config": cobra.FixedCompletions([]string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt),
	})
	return root
}

// collectLess has the collector run a fourth as often, unless GOGC says how often. Little is alive in a relay while each event leaves garbage, so it would take a
// fourth of the process (0.89 instead of 1.05 of a relay written by hand, to Kafka).
func collectLess() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}

func newCheck(o *options) *cobra.Command {
	return &cobra.Command{
		Use:     "check",
		Short:   "Says whether both ends of each pipeline can be reached, and moves nothing",
		Example: "  sluice-relay check\n  sluice-relay check --config relay.yaml",
		Args:    cobra.NoArgs,
		RunE: process.Run(func(cmd *cobra.Command, _ []string) error {
			r, _, err := o.relay(cmd)
			if err != nil {
				return err
			}
			return databaseError(r.Check(cmd.Context()))
		}),
	}
}

// relay reads the configuration. load reads it again.
func (o *options) relay(cmd *cobra.Command) (r *relay.Relay, load func() (*config.Relay, error), err error) {
	log, err := process.Logger(cmd, o.logFormat, o.logLevel)
	if err != nil {
		return nil, nil, err
	}
	slog.SetDefault(log) // of rooms that have no pipeline's
	warnOfVersions(log, os.Getenv(process.StartedBy), process.Release())
	load = func() (*config.Relay, error) {
		c, errs := config.Load(o.config)
		if !errs.Empty() {
			return nil, errs
		}
		if o.dsn != "" {
			c.Database = o.dsn
		}
		if c.Database == "" {
			c.Database = os.Getenv("DATABASE_URL")
		}
		return c, relay.Usable(c)
	}
	c, err := load()
	var wrong *diag.List
	if errors.As(err, &wrong) {
		return nil, nil, process.Fail(process.Input, process.Problems(wrong, "nothing was moved"))
	}
	return &relay.Relay{Config: c, Log: log, Stdin: cmd.InOrStdin(), Stdout: cmd.OutOrStdout()}, load, err
}

// warnOfVersions warns if sluice, which started this relay, is of another release. Programs that were not built from a release have none.
func warnOfVersions(log *slog.Logger, sluice, relay string) {
	if sluice != "" && relay != "" && sluice != relay {
		log.Warn("sluice and sluice-relay have different versions: install the same version of both", "sluice", sluice, "sluice-relay", relay)
	}
}

// databaseError is an error of what the command talks to.
func databaseError(err error) error {
	if err == nil {
		return nil
	}
	return process.Fail(process.Database, fmt.Sprintf("sluice-relay: %v\n", err))
}

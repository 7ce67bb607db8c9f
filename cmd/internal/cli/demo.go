package cli

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/spf13/cobra"

	"github.com/pgsluice/sluice/cmd/internal/demo"
	"github.com/pgsluice/sluice/cmd/internal/process"
)

// Limits of the demo's options. A server has a hundred connections.
const (
	fewestEvents = 100
	mostEvents   = 10_000_000
	mostClients  = 40
)

func newDemo() *cobra.Command {
	options := demo.Options{Events: 5000, Writers: 4, Workers: 6}
	command := &cobra.Command{
		Use:   "demo",
		Short: "Starts a throw-away PostgreSQL and drives real traffic through inboxes, stream tables and an outbox",
		Long: "Starts a throw-away PostgreSQL, installs the sample shop and sends it events: duplicates, out of order, delayed, poison.\n" +
			"Concurrent workers process them, some fail, some are killed. With each effect they publish an event, which a group of consumers\n" +
			"reads, one of which is killed. Then it checks that each event had its effect exactly once and was delivered, and exits 1 if not.\n" +
			"It needs nothing but PostgreSQL's binaries, and leaves nothing behind.",
		Example: `  sluice demo
  sluice demo --events 20000 --workers 12 --keep`,
		Args: cobra.NoArgs,
		RunE: process.Run(func(cmd *cobra.Command, _ []string) error {
			if err := checkDemo(options); err != nil {
				return err
			}
			if !cmd.Flags().Changed("seed") {
				options.Seed = uint64(rand.Uint32())
			}
			options.Out, options.Talk = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return demoStatus(demo.Run(cmd.Context(), options))
		}),
	}
	flags := command.Flags()
	flags.IntVar(&options.Events, "events", options.Events, "how many `events` to send, besides redeliveries")
	flags.IntVar(&options.Writers, "writers", options.Writers, "concurrent `writers`")
	flags.IntVar(&options.Workers, "workers", options.Workers, "concurrent `workers`")
	flags.Uint64Var(&options.Seed, "seed", 0, "`number` that the events come from (default: another each time)")
	flags.BoolVar(&options.Keep, "keep", false, "leave the server running until interrupted, and print its DSN")
	flags.BoolVar(&options.JSON, "json", false, "print the report as JSON")
	return command
}

func checkDemo(o demo.Options) error {
	switch {
	case o.Events < fewestEvents || o.Events > mostEvents:
		return process.Fail(process.Usage, fmt.Sprintf("sluice: --events is %d to %d\n", fewestEvents, mostEvents))
	case min(o.Writers, o.Workers) < 1 || max(o.Writers, o.Workers) > mostClients:
		return process.Fail(process.Usage, fmt.Sprintf("sluice: --writers and --workers are 1 to %d each\n", mostClients))
	}
	return nil
}

// demoStatus sorts the errors of the demo: a check that fails is a difference, all else is the server's.
func demoStatus(err error) error {
	var failed demo.CheckFailed
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return process.Fail(process.Input, "sluice: interrupted; the server is gone, nothing was checked\n")
	case errors.As(err, &failed):
		return process.Fail(process.Input, fmt.Sprintf("sluice: %v\n", err))
	default:
		return process.Fail(process.Database, fmt.Sprintf("sluice: %v\n", err))
	}
}

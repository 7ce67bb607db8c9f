package cli

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/pgsluice/sluice/cmd/internal/live"
)

func newRun() *cobra.Command {
	var every time.Duration
	command := &cobra.Command{
		Use:   "run",
		Short: "Does the background work of the extensions of the specs, for servers without pg_cron",
		Long: "Calls tick() again and again until it is interrupted, for each of the specs that --file names. Several may run at once; a server that goes away is waited for.\n" +
			"It says when it begins and ends, and of a problem when it begins and when it is over.",
		Args: cobra.NoArgs,
		RunE: run(func(cmd *cobra.Command, _ []string) error {
			extensions, err := generate(cmd)
			if err != nil {
				return err
			}
			url, err := dsn(cmd)
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("every") && every < 10*time.Millisecond {
				return exitError{exitUsage, "sluice: --every is 10ms at least\n"}
			}
			var all sync.WaitGroup
			errs := make([]error, len(extensions))
			for n, e := range extensions {
				s := live.Scheduler{DSN: url, Schema: e.Schema, Every: e.Every, Log: func(format string, args ...any) {
					fmt.Fprintf(cmd.ErrOrStderr(), "sluice run: "+e.Name+": "+format+"\n", args...)
				}}
				if cmd.Flags().Changed("every") {
					s.Every = every
				}
				s.Log("ticks in schema %s every %v", e.Schema, s.Every)
				all.Go(func() {
					errs[n] = s.Run(cmd.Context())
					s.Log("stopped")
				})
			}
			all.Wait()
			return errors.Join(errs...)
		}),
	}
	command.Flags().DurationVar(&every, "every", 0, "time between two ticks (default: as the spec's shortest schedule needs, 1s at most)")
	return command
}

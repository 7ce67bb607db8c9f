package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/pgsluice/sluice/cmd/internal/live"
)

func newRun() *cobra.Command {
	var every time.Duration
	command := &cobra.Command{
		Use:   "run",
		Short: "Does the background work of the extension, for servers without pg_cron",
		Long:  "Calls tick() again and again until it is interrupted. Several may run at once; a server that goes away is waited for.",
		Args:  cobra.NoArgs,
		RunE: run(func(cmd *cobra.Command, _ []string) error {
			e, err := generateOne(cmd)
			if err != nil {
				return err
			}
			url, err := dsn(cmd)
			if err != nil {
				return err
			}
			if !cmd.Flags().Changed("every") {
				every = e.Every
			}
			if every < 10*time.Millisecond {
				return exitError{exitUsage, "sluice: --every is 10ms at least\n"}
			}
			scheduler := live.Scheduler{DSN: url, Schema: e.Schema, Every: every, Log: func(format string, args ...any) {
				fmt.Fprintf(cmd.ErrOrStderr(), "sluice run: "+format+"\n", args...)
			}}
			return scheduler.Run(cmd.Context())
		}),
	}
	command.Flags().DurationVar(&every, "every", 0, "time between two ticks (default: as the spec's shortest schedule needs, 1s at most)")
	return command
}

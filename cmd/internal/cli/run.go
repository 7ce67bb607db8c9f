package cli

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/pgsluice/sluice/cmd/internal/live"
	"github.com/pgsluice/sluice/cmd/internal/metrics"
	"github.com/pgsluice/sluice/cmd/internal/process"
)

// runOptions are flags of run.
type runOptions struct {
	every             time.Duration
	listen, logFormat string
}

func newRun() *cobra.Command {
	var o runOptions
	command := &cobra.Command{
		Use:   "run",
		Short: "Does the background work of the extensions of the specs, for servers without pg_cron",
		Long: "Calls tick() again and again until it is interrupted, for each of the specs that --file names. Several may run at once; a server that goes away is waited for.\n" +
			"It logs when it begins and ends, and of a problem when it begins and when it is over, in the format of --log-format.",
		Example: `  sluice run --dsn postgres://localhost/shop
  sluice run --every 500ms --listen 127.0.0.1:9465 --log-format json`,
		Args: cobra.NoArgs,
		RunE: process.Run(func(cmd *cobra.Command, _ []string) error { return o.run(cmd) }),
	}
	flags := command.Flags()
	flags.DurationVar(&o.every, "every", 0, "time between two ticks (default: as the spec's shortest schedule needs, 1s at most)")
	flags.StringVar(&o.listen, "listen", "", "`address` that serves /metrics, /healthz and /readyz, such as 127.0.0.1:9465")
	flags.StringVar(&o.logFormat, "log-format", "text", "text or json")
	return command
}

func (o *runOptions) run(cmd *cobra.Command) error {
	extensions, err := generate(cmd)
	if err != nil {
		return err
	}
	url, err := dsn(cmd)
	if err != nil {
		return err
	}
	if cmd.Flags().Changed("every") && o.every < 10*time.Millisecond {
		return process.Fail(process.Usage, "sluice: --every is 10ms at least\n")
	}
	log, err := process.Logger(cmd, o.logFormat, "info")
	if err != nil {
		return err
	}
	var watched metrics.Extensions
	var all sync.WaitGroup
	errs := make([]error, len(extensions))
	schedulers := make([]live.Scheduler, len(extensions))
	for n, e := range extensions {
		s := live.Scheduler{DSN: url, Schema: e.Schema, Every: e.Every, Ticked: watched.Add(url, e.Name, e.Schema), Log: func(level slog.Level, message string) {
			log.Log(cmd.Context(), level, message, "extension", e.Name)
		}}
		if cmd.Flags().Changed("every") {
			s.Every = o.every
		}
		schedulers[n] = s
	}
	if o.listen != "" {
		stop, err := watched.Serve(o.listen, log)
		if err != nil {
			return process.Fail(process.Usage, fmt.Sprintf("sluice: --listen: %v\n", err))
		}
		defer stop()
	}
	for n, s := range schedulers {
		s.Log(slog.LevelInfo, fmt.Sprintf("ticks in schema %s every %v", s.Schema, s.Every))
		all.Go(func() {
			errs[n] = s.Run(cmd.Context())
			if errs[n] != nil {
				s.Log(slog.LevelError, errs[n].Error())
			}
			s.Log(slog.LevelInfo, "stopped")
		})
	}
	all.Wait()
	if errors.Join(errs...) != nil {
		return process.Fail(process.Input, "") // they are logged
	}
	return nil
}

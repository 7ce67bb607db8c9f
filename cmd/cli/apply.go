package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"

	"github.com/pgsluice/sluice/cmd/live"
	"github.com/pgsluice/sluice/generator"
)

func newApply() *cobra.Command {
	var dryRun bool
	flavour := string(generator.Plain)
	command := &cobra.Command{
		Use:   "apply",
		Short: "Installs the extension in a database, in one transaction",
		Args:  cobra.NoArgs,
		RunE: run(func(cmd *cobra.Command, _ []string) error {
			if flavour != string(generator.Plain) && flavour != string(generator.AsExtension) {
				return exitError{exitUsage, fmt.Sprintf("sluice: --flavour is plain or extension, not %q\n", flavour)}
			}
			e, err := generateFor(cmd)
			if err != nil {
				return err
			}
			if dryRun {
				fmt.Fprint(cmd.OutOrStdout(), live.ApplyScript(e, generator.Flavour(flavour)))
				return nil
			}
			filling := &live.Filling{Log: func(format string, args ...any) { fmt.Fprintf(cmd.ErrOrStderr(), format+"\n", args...) }}
			if filling.DSN, err = dsn(cmd); err != nil {
				return err
			}
			return withNotices(cmd, filling.Notice, func(ctx context.Context, conn *pgx.Conn) error {
				changed, err := live.ApplyTelling(ctx, conn, e, generator.Flavour(flavour), filling)
				if err != nil {
					return err
				}
				verb := "is installed already, nothing to do"
				if changed {
					verb = "installed"
				}
				fmt.Fprintf(cmd.ErrOrStderr(), "extension %s %s %s\n", e.Name, e.Version, verb)
				return nil
			})
		}),
	}
	command.Flags().BoolVar(&dryRun, "dry-run", false, "change nothing; print the script that psql would run")
	command.Flags().StringVar(&flavour, "flavour", flavour, "plain objects, or an `extension` whose files are on the server")
	return command
}

// withDatabase connects, runs body and sorts its errors: a refusal is wrong input, all else is the database's.
func withDatabase(cmd *cobra.Command, body func(context.Context, *pgx.Conn) error) error {
	return withNotices(cmd, nil, body)
}

// withNotices is withDatabase for somebody who takes what the server says beside results.
func withNotices(cmd *cobra.Command, notice func(*pgconn.Notice), body func(context.Context, *pgx.Conn) error) error {
	url, err := dsn(cmd)
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	conn, err := live.ConnectNoticing(ctx, url, notice)
	if err == nil {
		defer conn.Close(context.WithoutCancel(ctx))
		err = body(ctx, conn)
	}
	var refusal live.Refusal
	var exit exitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &exit):
		return err
	case errors.As(err, &refusal):
		return exitError{exitInput, fmt.Sprintf("sluice: %s; nothing was changed\nhint: %s\n", refusal.Message, refusal.Hint)}
	default:
		return exitError{exitDatabase, fmt.Sprintf("sluice: %v\n", err)}
	}
}

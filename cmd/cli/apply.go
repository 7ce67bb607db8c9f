package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
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
			return withDatabase(cmd, func(ctx context.Context, conn *pgx.Conn) error {
				changed, err := live.Apply(ctx, conn, e, generator.Flavour(flavour))
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
	url, err := dsn(cmd)
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	conn, err := live.Connect(ctx, url)
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

package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/pgsluice/sluice/cmd/internal/live"
	"github.com/pgsluice/sluice/cmd/internal/process"
)

func newHistory() *cobra.Command {
	var asJSON bool
	var schema func() (string, error)
	command := &cobra.Command{
		Use:   "history",
		Short: "Shows which versions of an extension were installed in a database, when, and by which way",
		Long: "Shows the versions that were installed, oldest first: by apply, a migration, dbt, an extension's script or pg_tle. A role that\n" +
			"monitors is enough. The extension is that of the spec; with --schema it needs nothing but the database.",
		Example: `  sluice history --dsn postgres://localhost/shop
  sluice history --schema pgtrickle --json`,
		Args: cobra.NoArgs,
		RunE: process.Run(func(cmd *cobra.Command, _ []string) error {
			schema, err := schema()
			if err != nil {
				return err
			}
			var history *live.History
			err = looking(cmd, func(ctx context.Context, conn *pgx.Conn) (err error) {
				history, err = live.ReadHistory(ctx, conn, schema)
				return err
			})
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), history)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "extension %s in schema %s\n\n%s\n", history.Extension, history.Schema, historyTable(history))
			return err
		}),
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	schema = withSchema(command)
	return command
}

func historyTable(h *live.History) string {
	t := statusTable("version", "installed", "way", "flavour", "role", "change")
	for _, v := range h.Versions {
		change := "installed"
		switch {
		case v.Downgrade:
			change = "downgraded from " + *v.From
		case v.From != nil && *v.From == v.Version:
			change = "changed under its number"
		case v.From != nil:
			change = "upgraded from " + *v.From
		}
		t.AppendRow(table.Row{v.Version, v.InstalledAt.Format(time.DateTime), v.Way, v.Flavour, v.Role, change})
	}
	return t.Render()
}

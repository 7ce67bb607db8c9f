package cli

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"github.com/pgsluice/sluice/cmd/internal/live"
	"github.com/pgsluice/sluice/cmd/internal/process"
	"github.com/pgsluice/sluice/generator/artifact"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/diag"
)

func newUninstall() *cobra.Command {
	var allowLoss bool
	var schema string
	command := &cobra.Command{
		Use:   "uninstall",
		Short: "Removes everything that apply made from a database",
		Long: "Removes everything that apply made from a database, which keeps what that is: the spec only says in which schema, and may have changed since; with --schema none is\n" +
			"read. What scripts installed is removed by the spec of their version, or where that was released.",
		Example: `  sluice uninstall --dsn postgres://localhost/shop
  sluice uninstall --dsn postgres://localhost/shop --schema pgtrickle --allow-data-loss`,
		Args: cobra.NoArgs,
		RunE: process.Run(func(cmd *cobra.Command, _ []string) error {
			name, known, err := installedBy(cmd, &schema)
			if err != nil {
				return err
			}
			return withDatabase(cmd, func(ctx context.Context, conn *pgx.Conn) error {
				did, err := live.Remove(ctx, conn, schema, known, allowLoss)
				if err != nil {
					return err
				}
				if !did.Done {
					fmt.Fprintf(cmd.ErrOrStderr(), "%s is not installed, nothing to do\n", name)
					return nil
				}
				for _, id := range did.Left {
					fmt.Fprintf(cmd.ErrOrStderr(), "left alone: %s: extension %s did not make it\n", id, did.Extension)
				}
				for _, loss := range did.Losses {
					fmt.Fprintf(cmd.ErrOrStderr(), "deleted %s of %s\n", diag.Count(loss.Rows, "row"), loss.Table)
				}
				fmt.Fprintf(cmd.ErrOrStderr(), "extension %s removed\n", did.Extension)
				return nil
			})
		}),
	}
	command.Flags().BoolVar(&allowLoss, "allow-data-loss", false, "remove it although tables hold data")
	command.Flags().StringVar(&schema, "schema", "", "the extension's `schema`, instead of a spec")
	return command
}

// installedBy says what may be installed: what is to be called, and the versions that are known. It fills in the schema if no flag says it.
func installedBy(cmd *cobra.Command, schema *string) (name string, known []upgrade.Manifest, err error) {
	switch {
	case *schema != "" && cmd.Flags().Changed("file"):
		return "", nil, process.Fail(process.Usage, "sluice: give --schema or --file, not both\n")
	case *schema != "":
		return "an extension in schema " + *schema, nil, nil
	}
	e, err := generateOne(cmd)
	if err != nil {
		return "", nil, err
	}
	*schema = e.Schema
	released, err := artifact.Releases(option(cmd, "out"), e.Name)
	return "extension " + e.Name, append(released, e.Manifest()), err
}

package cli

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"github.com/pgsluice/sluice/cmd/internal/live"
)

func newUninstall() *cobra.Command {
	var allowLoss bool
	command := &cobra.Command{
		Use:   "uninstall",
		Short: "Removes everything that apply made from a database",
		Args:  cobra.NoArgs,
		RunE: run(func(cmd *cobra.Command, _ []string) error {
			e, err := generateOne(cmd)
			if err != nil {
				return err
			}
			return withDatabase(cmd, func(ctx context.Context, conn *pgx.Conn) error {
				did, err := live.Remove(ctx, conn, e, allowLoss)
				if err != nil {
					return err
				}
				if !did.Done {
					fmt.Fprintf(cmd.ErrOrStderr(), "extension %s is not installed, nothing to do\n", e.Name)
					return nil
				}
				for _, id := range did.Left {
					fmt.Fprintf(cmd.ErrOrStderr(), "left alone: %s: extension %s did not make it\n", id, e.Name)
				}
				for _, loss := range did.Losses {
					fmt.Fprintf(cmd.ErrOrStderr(), "deleted %d rows of %s\n", loss.Rows, loss.Table)
				}
				fmt.Fprintf(cmd.ErrOrStderr(), "extension %s removed\n", e.Name)
				return nil
			})
		}),
	}
	command.Flags().BoolVar(&allowLoss, "allow-data-loss", false, "remove it although tables hold data")
	return command
}

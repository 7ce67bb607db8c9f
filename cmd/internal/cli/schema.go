package cli

import (
	"github.com/spf13/cobra"

	"github.com/pgsluice/sluice/cmd/internal/process"
	"github.com/pgsluice/sluice/specs"
)

func newSchema() *cobra.Command {
	return process.Group(&cobra.Command{
		Use:   "schema",
		Short: "Schemas that specs refer to",
	}, newSchemaPull(), newSchemaSpec(), newSchemaRelay())
}

func newSchemaRelay() *cobra.Command {
	return &cobra.Command{
		Use:     "relay",
		Short:   "Prints the JSON Schema of relay.yaml",
		Example: "  sluice schema relay > relay.schema.json",
		Args:    cobra.NoArgs,
		RunE: process.Run(func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(specs.RelaySchema)
			return err
		}),
	}
}

func newSchemaSpec() *cobra.Command {
	return &cobra.Command{
		Use:     "spec",
		Short:   "Prints the JSON Schema of the spec format",
		Example: "  sluice schema spec > specs/spec.schema.json",
		Args:    cobra.NoArgs,
		RunE: process.Run(func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(specs.SpecSchema)
			return err
		}),
	}
}

package cli

import (
	"github.com/spf13/cobra"

	"github.com/pgsluice/sluice/generator/spec"
)

func newSchema() *cobra.Command {
	return group(&cobra.Command{
		Use:   "schema",
		Short: "Schemas that specs refer to",
	}, newSchemaPull(), newSchemaSpec())
}

func newSchemaSpec() *cobra.Command {
	return &cobra.Command{
		Use:   "spec",
		Short: "Prints the JSON Schema of the spec format",
		Args:  cobra.NoArgs,
		RunE: run(func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(spec.JSONSchema())
			return err
		}),
	}
}

package cli

import "github.com/spf13/cobra"

func newGenerate() *cobra.Command {
	return &cobra.Command{
		Use:   "generate",
		Short: "Generates the artifacts of the specs",
		Args:  cobra.NoArgs,
		RunE: run(func(cmd *cobra.Command, _ []string) error {
			_, err := loadSpecs(cmd)
			return err
		}),
	}
}

package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pgsluice/sluice/cmd/internal/process"
	"github.com/pgsluice/sluice/generator"
)

func newDocs() *cobra.Command {
	return &cobra.Command{
		Use:   "docs DIR",
		Short: "Writes the reference of each extension as a page of HTML",
		Long: "Writes the reference of each extension that the specs describe to DIR, as NAME.html: the pages of the artifact docs and\n" +
			"the reference of what all extensions share, with roles, scheduled jobs, a picture of what flows where, a search, and links. A page is one file,\n" +
			"which needs no server.",
		Example: "  sluice docs public\n  sluice docs --file specs/shop.yaml /tmp",
		Args:    cobra.ExactArgs(1),
		RunE: process.Run(func(cmd *cobra.Command, args []string) error {
			extensions, err := generate(cmd)
			if err != nil {
				return err
			}
			pages := generator.Files{}
			for _, e := range extensions {
				if pages[e.Name+".html"], err = e.ReferencePage(); err != nil {
					return process.Fail(process.Input, fmt.Sprintf("sluice: %v\n", err))
				}
			}
			return writeBelow(cmd, args[0], pages)
		}),
	}
}

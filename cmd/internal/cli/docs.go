package cli

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/pgsluice/sluice/cmd/internal/process"
)

func newDocs() *cobra.Command {
	return &cobra.Command{
		Use:   "docs DIR",
		Short: "Writes the reference of each extension as a page of HTML",
		Long: "Writes the reference of each extension that the specs describe to DIR, as NAME.html: the same as docs/README.md of the artifacts, with a picture of\n" +
			"what flows where, a search, and links between objects. A page is one file, which needs no server.",
		Example: "  sluice docs public\n  sluice docs --file specs/shop.yaml /tmp",
		Args:    cobra.ExactArgs(1),
		RunE: process.Run(func(cmd *cobra.Command, args []string) error {
			extensions, err := generate(cmd)
			if err != nil {
				return err
			}
			pages := map[string]string{}
			for _, e := range extensions {
				if pages[e.Name+".html"], err = e.ReferencePage(); err != nil {
					return process.Fail(process.Input, fmt.Sprintf("sluice: %v\n", err))
				}
			}
			if err := os.MkdirAll(args[0], 0o777); err != nil {
				return err
			}
			for _, name := range slices.Sorted(maps.Keys(pages)) {
				path := filepath.Join(args[0], name)
				if err := os.WriteFile(path, []byte(pages[name]), 0o666); err != nil {
					return err
				}
				fmt.Fprintln(cmd.ErrOrStderr(), path)
			}
			return nil
		}),
	}
}

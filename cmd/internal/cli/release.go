package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pgsluice/sluice/cmd/internal/process"
)

func newRelease() *cobra.Command {
	command := &cobra.Command{
		Use:   "release",
		Short: "Freezes the current version, so that later ones upgrade from it",
		Long: "Keeps a manifest of what the spec makes now in the artifact directory, below releases, and writes its migration, which never changes\n" +
			"again: the first installs, each later one leads from the release before, and back where nothing is lost. From then on generate\n" +
			"refuses to make anything else under its number.",
		Example: `  sluice release
  sluice release --migrations goose`,
		Args: cobra.NoArgs,
		RunE: process.Run(func(cmd *cobra.Command, _ []string) error {
			extensions, err := generate(cmd)
			if err != nil {
				return err
			}
			files, err := filesOf(cmd, extensions, true)
			if err != nil {
				return err
			}
			for _, e := range extensions {
				path, added, err := e.Release(option(cmd, "out"))
				if err != nil {
					return asReleased(err)
				}
				verb := "was released before"
				if added {
					verb = "released: " + path
				}
				fmt.Fprintf(cmd.ErrOrStderr(), "extension %s %s %s\n", e.Name, e.Version, verb)
			}
			_, err = files.Write(option(cmd, "out"))
			return err
		}),
	}
	withFormat(command)
	return command
}

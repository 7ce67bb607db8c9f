package cli

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pgsluice/sluice/cmd/internal/process"
	"github.com/pgsluice/sluice/specs"
)

//go:embed starter
var starter embed.FS

// schemaFile is what the first line of the starter spec names.
const schemaFile = "spec.schema.json"

func newInit() *cobra.Command {
	return &cobra.Command{
		Use:   "init [DIR]",
		Short: "Writes a commented starter spec, its sample DDL and the JSON Schema for editors",
		Long:  "Writes a commented starter spec, its sample DDL and the JSON Schema for editors into DIR (default specs/app). Nothing is overwritten.",
		Example: `  sluice init
  sluice init shop`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
		RunE: process.Run(func(cmd *cobra.Command, args []string) error {
			dir := filepath.Join("specs", "app")
			if len(args) == 1 {
				dir = args[0]
			}
			return scaffold(cmd, dir)
		}),
	}
}

// scaffold writes all files or none.
func scaffold(cmd *cobra.Command, dir string) error {
	files, err := starterFiles(extensionFor(dir))
	if err != nil {
		return err
	}
	if err := refuseExisting(dir, files); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		if err := os.WriteFile(path, f.content, 0o666); err != nil {
			return err
		}
		fmt.Fprintln(cmd.OutOrStdout(), path)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "Next: sluice generate -f %s\n", dir)
	return nil
}

type starterFile struct {
	name    string
	content []byte
}

// extensionFor is the name of an extension whose spec stands in a directory: that of the directory, in the characters that such a name may have.
func extensionFor(dir string) string {
	full, err := filepath.Abs(dir)
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '_':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '_'
	}, filepath.Base(full))
	if err != nil || name[0] < 'a' || name[0] > 'z' || len(name) > 40 {
		return "app"
	}
	return name
}

// starterFiles are those for an extension; the starter's is called app.
func starterFiles(extension string) ([]starterFile, error) {
	files := []starterFile{{schemaFile, specs.SpecSchema}}
	err := fs.WalkDir(starter, "starter", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := starter.ReadFile(path)
		text := strings.NewReplacer("name: app     ", fmt.Sprintf("name: %-8s", extension), "app.control, app--", extension+".control, "+extension+"--", "out/app/", "out/"+extension+"/").Replace(string(content))
		files = append(files, starterFile{filepath.Base(path), []byte(text)})
		return err
	})
	return files, err
}

func refuseExisting(dir string, files []starterFile) error {
	var existing []string
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		if _, err := os.Lstat(path); err == nil {
			existing = append(existing, path)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if existing == nil {
		return nil
	}
	return fmt.Errorf("not overwriting %s; nothing was written", strings.Join(existing, ", "))
}

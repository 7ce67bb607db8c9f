package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pgsluice/sluice/cmd/internal/pull"
	"github.com/pgsluice/sluice/generator/spec"
)

// destination is the file to write; empty for standard output, with a note where a spec lets one expect a file.
func (o pullOptions) destination(s *spec.Spec) (path, note string, err error) {
	switch {
	case o.out == "-":
		return "", "", nil
	case o.out != "":
		return o.out, "", nil
	case s == nil:
		return "", "", nil
	}
	switch files := s.DDLFiles(); len(files) {
	case 1:
		return files[0], "", o.mayOverwrite(files[0])
	case 0:
		return "", "the spec names no DDL file; write this to one and name it, as in schema: [schema.sql]\n", nil
	default:
		return "", fmt.Sprintf("the spec names %d DDL files; choose one with --out\n", len(files)), nil
	}
}

// mayOverwrite refuses to overwrite what a person has written.
func (o pullOptions) mayOverwrite(path string) error {
	old, err := os.ReadFile(path)
	sample, _ := starter.ReadFile("starter/schema.sql")
	switch {
	case o.force, errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case len(bytes.TrimSpace(old)) == 0, bytes.Equal(old, sample), bytes.HasPrefix(old, []byte(pulledMark)):
		return nil
	}
	return fmt.Errorf("%s was not written by schema pull, and is kept\nhint: to overwrite it, give --force; to write elsewhere, --out", path)
}

// writeScript writes the file, or to standard output.
func writeScript(cmd *cobra.Command, path string, script pull.Script) error {
	if path == "" {
		_, err := fmt.Fprint(cmd.OutOrStdout(), script.SQL)
		return err
	}
	old, err := os.ReadFile(path)
	said := "written"
	if err == nil && string(old) == script.SQL {
		said = "unchanged"
	} else if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	} else if err := os.WriteFile(path, []byte(script.SQL), 0o666); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s %s: %s\n", path, said, counted(script))
	return nil
}

// counted says what a script makes.
func counted(s pull.Script) string {
	var parts []string
	for _, c := range []struct {
		count int
		noun  string
	}{{s.Tables, "table"}, {s.Views, "view"}, {s.Others, "other object"}} {
		switch {
		case c.count == 1:
			parts = append(parts, "1 "+c.noun)
		case c.count > 1:
			parts = append(parts, fmt.Sprintf("%d %ss", c.count, c.noun))
		}
	}
	return strings.Join(parts, ", ")
}

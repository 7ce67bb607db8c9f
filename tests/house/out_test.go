package house

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/artifact"
	"github.com/pgsluice/sluice/generator/spec"
)

// What out/ holds is what specs/ generate: the same check as sluice generate --check.
func TestOutIsCurrent(t *testing.T) {
	specs, problems := spec.Load("../../specs")
	if !problems.Empty() {
		t.Fatal(problems)
	}
	for _, s := range specs {
		released, err := artifact.Releases("../../out", s.Extension.Name)
		if err != nil {
			t.Fatal(err)
		}
		extension, problems := generator.Generate(s, released...)
		if !problems.Empty() {
			t.Fatal(problems)
		}
		files, err := extension.Files(released)
		if err != nil {
			t.Fatal(err)
		}
		diff, err := files.Diff("../../out")
		if err != nil {
			t.Fatal(err)
		}
		if diff != "" {
			t.Errorf("out is stale; run make generate\n%s", diff)
		}
	}
}

// TestNoTrailingBlanks finds lines of generated files that end in blanks, which hooks of users' repositories remove and git diff --check reports.
func TestNoTrailingBlanks(t *testing.T) {
	for _, dir := range []string{"../../out", "../targets/cockroach/testdata", "../targets/citus/testdata", "../../generator/docs/testdata", "../../generator/explain/testdata"} {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) || err == nil && entry.IsDir() {
				return nil
			}
			text, err := os.ReadFile(path)
			for n, line := range strings.Split(string(text), "\n") {
				if line != strings.TrimRight(line, " \t\r") {
					t.Errorf("%s:%d: %q", path, n+1, line)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

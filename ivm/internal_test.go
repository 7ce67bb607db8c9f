package ivm_test

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/pgsluice/sluice/ivm"
)

var (
	columnName = regexp.MustCompile(`\b__[a-z_]+[0-9]*`)
	formatName = regexp.MustCompile(`"(__[a-z_]+)`)
)

// Whatever name templates and this package give to a column of their own is one that queries are not allowed to use.
func TestInternalNames(t *testing.T) {
	seen := 0
	for dir, name := range map[string]*regexp.Regexp{"../templates": columnName, "../ivm": formatName} {
		err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testdata") {
				return err
			}
			text, err := fs.ReadFile(os.DirFS(dir), path)
			for _, found := range name.FindAllString(string(text), -1) {
				found = strings.TrimPrefix(found, `"`)
				if seen++; !ivm.IsInternal(found) && !ivm.IsInternal(found+"1") && found != "__" {
					t.Errorf("%s/%s has a column %s that IsInternal does not know", dir, path, found)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen < 100 {
		t.Errorf("found %d names, fewer than there were", seen)
	}
}

// Columns that others' tools write are not the generator's.
func TestNotInternal(t *testing.T) {
	for _, name := range []string{"__op", "__deleted", "__ts_ms", "__source_ts_ms", "__mul", "__mult_", "__key", "_mult", "mult", "__", "__Mult"} {
		if ivm.IsInternal(name) {
			t.Errorf("%s is taken for internal", name)
		}
	}
}

// Package citus tests what is generated for Citus: here against what was reviewed, and with the build tag citus on a cluster of a coordinator and two workers, whose
// PostgreSQL is that of SLUICE_PG_BIN (make test-citus).
package citus

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/tests/pgtest"
	"github.com/pgsluice/sluice/tests/pgtest/golden"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// generated are the files of a spec, by name below the extension's folder.
func generated(t testing.TB, path string) map[string]string {
	t.Helper()
	specs, problems := spec.Load(path)
	if !problems.Empty() {
		t.Fatal(problems)
	}
	extension, problems := generator.Generate(specs[0])
	if !problems.Empty() {
		t.Fatal(problems)
	}
	files, err := extension.Files(nil)
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]string{}
	for path, text := range files {
		_, rest, _ := strings.Cut(path, "/")
		named[rest] = text
	}
	return named
}

// TestGolden compares what is generated with what was reviewed.
func TestGolden(t *testing.T) {
	files := generated(t, filepath.Join("testdata", "shop", "spec.yaml"))
	for path, text := range files {
		file := filepath.Join("testdata", "shop", filepath.Base(path))
		if golden.Update() {
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, _ := os.ReadFile(file)
		golden.CompareText(t, file, text, string(want))
	}
	want := []string{"docs/README.md", "migrations/shop_1.0.0.down.sql", "migrations/shop_1.0.0.pg_cron.sql", "migrations/shop_1.0.0.up.sql"}
	if got := slices.Sorted(maps.Keys(files)); !slices.Equal(got, want) {
		t.Errorf("files are %v, want %v", got, want)
	}
}

// TestLinesAreShort holds lines to what a review tool shows, with odd names too.
func TestLinesAreShort(t *testing.T) {
	for _, name := range []string{"shop", "odd"} {
		for path, text := range generated(t, filepath.Join("testdata", name, "spec.yaml")) {
			for n, line := range strings.Split(text, "\n") {
				if utf8.RuneCountInString(line) > 140 && name == "shop" && strings.HasSuffix(path, ".sql") {
					t.Errorf("%s:%d has %d characters", path, n+1, utf8.RuneCountInString(line))
				}
			}
		}
	}
}

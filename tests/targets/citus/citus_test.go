// Package citus tests what is generated for Citus: here against what was reviewed, and with the build tag citus on a cluster of a coordinator and two workers, whose
// PostgreSQL is that of SLUICE_PG_BIN (make test-citus).
package citus

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pgsluice/sluice/ivm/sqltext"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
	"github.com/pgsluice/sluice/tests/kit/pgtest/golden"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// specs are the folders of testdata whose scripts were reviewed.
var specs = []string{"shop", "tables"}

// TestGolden compares what is generated with what was reviewed.
func TestGolden(t *testing.T) {
	for _, name := range specs {
		files := installed.Files(t, filepath.Join("testdata", name, "spec.yaml"))
		golden.CompareFiles(t, filepath.Join("testdata", name), files)
		want := []string{"docs/README.md", "migrations/shop_1.0.0.down.sql", "migrations/shop_1.0.0.pg_cron.sql", "migrations/shop_1.0.0.up.sql"}
		if got := slices.Sorted(maps.Keys(files)); !slices.Equal(got, want) {
			t.Errorf("files of %s are %v, want %v", name, got, want)
		}
	}
}

// TestLinesAreShort holds lines of SQL to what a review tool shows.
func TestLinesAreShort(t *testing.T) {
	for _, name := range specs {
		for path, text := range installed.Files(t, filepath.Join("testdata", name, "spec.yaml")) {
			for n, line := range strings.Split(text, "\n") {
				if length := utf8.RuneCountInString(line); length > 140 && strings.HasSuffix(path, ".sql") {
					t.Errorf("%s %s:%d has %d characters", name, path, n+1, length)
				}
			}
		}
	}
}

// TestNamesHaveSchemas holds that what is generated looks up no name along the path of whoever runs it.
func TestNamesHaveSchemas(t *testing.T) {
	for _, name := range specs {
		for _, kind := range []string{"up", "down"} {
			uses, err := sqltext.PathUses(installed.Migration(t, filepath.Join("testdata", name, "spec.yaml"), kind))
			if err != nil {
				t.Fatal(err)
			}
			for _, use := range uses {
				t.Errorf("%s, %s: %s", name, kind, use)
			}
		}
	}
}

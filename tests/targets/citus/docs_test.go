//go:build citus

package citus

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

var (
	block  = regexp.MustCompile("(?s)\n```(yaml|sql)\n(.*?)\n```\n")
	result = regexp.MustCompile(`^\s*-- → (\w+)`)
)

// TestDocs generates the spec of the guide, and runs its SQL: a line that ends in "→ value" returns it.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile("../../../docs/citus.md")
	if err != nil {
		t.Fatal(err)
	}
	c := newCluster(t, "")
	conn := c.connect(t, 0)
	ran, ddl := 0, "" // the SQL before a spec is the DDL of its tables
	for _, found := range block.FindAllStringSubmatch(string(text), -1) {
		if found[1] == "yaml" {
			dir := t.TempDir()
			path := filepath.Join(dir, "spec.yaml")
			if err := errors.Join(os.WriteFile(path, []byte(found[2]), 0o666), os.WriteFile(filepath.Join(dir, "schema.sql"), []byte(ddl), 0o666)); err != nil {
				t.Fatal(err)
			}
			c.install(t, installed.Migration(t, path, "up"))
			continue
		}
		ddl = found[2]
		parts := strings.Split(found[2], ";")
		for n, statement := range parts[:len(parts)-1] {
			comment, _, _ := strings.Cut(parts[n+1], "\n")
			want := result.FindStringSubmatch(comment)
			if want == nil {
				mustExec(t, conn, statement)
			} else if got := pgtest.Rows(t, conn, statement)[0][0]; got != want[1] && got != map[string]string{"true": "t"}[want[1]] {
				t.Errorf("%s\nreturns %s, want %s", statement, got, want[1])
			}
			ran++
		}
	}
	if ran < 15 {
		t.Errorf("%d statements ran", ran)
	}
}

package cockroach

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

var block = regexp.MustCompile("(?s)\n```(yaml|sql)\n(.*?)\n```\n")

// TestDocs generates the spec of the guide, and runs its SQL: a line that ends in "→ value" returns it.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile("../../../docs/cockroachdb.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "specs")
	db := pgtest.DB(t)
	db.SuperExec(t, pgtest.MakeRoles("registration_app", "registration_worker", "grafana"))
	db.SuperExec(t, lent)
	for _, found := range block.FindAllStringSubmatch(string(text), -1) {
		if found[1] == "yaml" {
			if err := os.Mkdir(dir, 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "spec.yaml"), []byte(found[2]), 0o666); err != nil {
				t.Fatal(err)
			}
			db.Exec(t, forPostgres(installed.Migration(t, dir, "up")))
			continue
		}
		parts := strings.Split(found[2], ";")
		for n, statement := range parts[:len(parts)-1] {
			line, _, _ := strings.Cut(parts[n+1], "\n")
			run(t, db, statement, line)
		}
	}
}

var result = regexp.MustCompile(`^\s*-- → (\w+)`)

// run runs one statement, and compares what the comment behind it says.
func run(t *testing.T, db *pgtest.Database, statement, comment string) {
	t.Helper()
	want := result.FindStringSubmatch(comment)
	if want == nil {
		db.Exec(t, statement)
		return
	}
	if got := pgtest.Rows(t, db, statement)[0][0]; got != want[1] && got != map[string]string{"true": "t"}[want[1]] {
		t.Errorf("%s\nreturns %s, want %s", statement, got, want[1])
	}
}

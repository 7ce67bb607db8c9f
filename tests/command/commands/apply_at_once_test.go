package commands

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// roundsAtOnce is how often the races are run, each time in a database of its own.
const roundsAtOnce = 6

// applyAtOnce runs apply twice at the same time and returns what both said, without reports of progress. Both must succeed.
func applyAtOnce(t *testing.T, db *pgtest.Database, args ...string) string {
	t.Helper()
	type end struct {
		status int
		said   string
	}
	ends := make(chan end)
	for range 2 {
		go func() {
			var out, talk bytes.Buffer
			status := commandtest.Main(append([]string{"apply", "--dsn", db.DSN()}, args...), strings.NewReader(""), &out, &talk)
			ends <- end{status, talk.String()}
		}()
	}
	var lines []string
	for range 2 {
		e := <-ends
		if e.status != 0 {
			t.Errorf("exit status %d:\n%s", e.status, e.said)
		}
		for line := range strings.Lines(e.said) {
			if strings.HasPrefix(line, "extension ") || strings.HasPrefix(line, "repaired") {
				lines = append(lines, line)
			}
		}
	}
	return strings.Join(lines, "")
}

// Two that install at once take turns: one installs, the other finds it done.
func TestInstallTwiceAtOnce(t *testing.T) {
	for range roundsAtOnce {
		both := applyAtOnce(t, pgtest.DB(t), "-f", installed.Shop())
		if strings.Count(both, "installed already") != 1 || strings.Count(both, "\n") != 2 {
			t.Fatalf("they say:\n%s", both)
		}
	}
}

const (
	ordersBefore = "create table orders (id int primary key, status text not null, qty int);\n"
	ordersAfter  = "create table orders (id int primary key, status text not null);\n"
)

// viewsAtOnce is a spec of several stream tables whose refresh fills new tables beside the old ones, which it then drops.
func viewsAtOnce(version, value string) string {
	text := fmt.Sprintf("version: 1\nextension: {name: raced, version: %s}\nschema: [schema.sql]\nstream_tables:\n", version)
	for n := range 8 {
		text += fmt.Sprintf("  - name: public.view%d\n    query: |\n      SELECT status, %s AS n FROM orders GROUP BY status\n", n, value)
	}
	return text
}

// Two that upgrade at once take turns, also while the first fills stream tables: the second then looks at definitions of tables that the first drops.
func TestUpgradeTwiceAtOnce(t *testing.T) {
	out, dir := t.TempDir(), t.TempDir()
	before := installed.Over(t, viewsAtOnce("1.0.0", "sum(qty)"), ordersBefore)
	if _, _, err := before.Release(out); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"spec.yaml": viewsAtOnce("1.1.0", "count(*)"), "schema.sql": ordersAfter} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for range roundsAtOnce {
		db := pgtest.DB(t)
		db.Exec(t, ordersBefore+"insert into orders select g, g % 10, g from generate_series(1, 1000) g")
		db.Exec(t, before.Install("plain"))
		db.Exec(t, before.Fill())
		db.Exec(t, "alter table orders drop column qty")
		both := applyAtOnce(t, db, "-f", filepath.Join(dir, "spec.yaml"), "-o", out)
		if strings.Count(both, "upgraded from 1.0.0") != 1 || strings.Count(both, "installed already") != 1 || strings.Count(both, "\n") != 2 {
			t.Fatalf("they say:\n%s", both)
		}
		if n := pgtest.One[int](t, db, "select count(*) from view7 where n = 100"); n != 10 {
			t.Fatalf("the last stream table has %d groups of 100", n)
		}
	}
}

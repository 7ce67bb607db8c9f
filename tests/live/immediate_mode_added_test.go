package live

import (
	"fmt"
	"testing"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestImmediateAdded has upgrades add a stream table that follows a table in another way than those that follow it already: statements on it fire triggers for both.
func TestImmediateAdded(t *testing.T) {
	const ddl = "create table orders (id int primary key, amount int not null);\n"
	const later, atOnce = "  - name: public.later\n    query: |\n      SELECT id FROM orders WHERE amount > 1\n", "  - name: public.at_once\n    refresh_mode: immediate\n    query: |\n      SELECT id FROM orders WHERE amount > 2\n"
	for what, first := range map[string]string{"later": later, "at once": atOnce} {
		t.Run(what, func(t *testing.T) {
			db := pgtest.DB(t)
			conn := db.Connect(t)
			run(t, conn, ddl)
			var released []upgrade.Manifest
			for n, tables := range []string{first, later + atOnce} {
				e := installed.OverReleased(t, fmt.Sprintf("version: 1\nextension: {name: added, version: 1.%d.0}\nschema: [schema.sql]\nstream_tables:\n%s", n, tables), ddl, released...)
				released = append(released, e.Manifest())
				if _, err := commandtest.Apply(t.Context(), conn, e, commandtest.ApplyOptions{Flavour: generator.Plain, Released: released}); err != nil {
					t.Fatal(pgtest.ErrorText(err))
				}
			}
			run(t, conn, "insert into orders values (1, 2), (2, 3)")
			run(t, conn, "select pgtrickle.refresh_stream_table('later')")
			if got := pgtest.Rows(t, conn, "select (select count(*) from later), (select count(*) from at_once)"); fmt.Sprint(got) != "[[2 1]]" {
				t.Errorf("rows of both: %v", got)
			}
		})
	}
}

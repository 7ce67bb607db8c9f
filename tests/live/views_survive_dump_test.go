package live

import (
	"fmt"
	"testing"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestViewsSurviveADump makes each view anew from what the server says of it, as a restore does: it must say the same of that, or it is taken for
// changed by hand ever after. The server names columns that have no name, such as NULL::bigint in the second branch of a union.
func TestViewsSurviveADump(t *testing.T) {
	db := installed.ShopDB(t)
	all := installed.OverReleased(t, fmt.Sprintf(driftSpec, "schema.sql"), driftDDL)
	drifting := pgtest.DB(t)
	drifting.SuperExec(t, "create role drift_producer; create role drift_consumer; create role drift_monitor")
	drifting.Exec(t, driftDDL)
	drifting.Exec(t, all.Install(generator.Plain))
	for _, db := range []*pgtest.Database{db, drifting} {
		for _, view := range pgtest.Column[string](t, db, "select c.oid::regclass::text from pg_class c where c.relkind = 'v' and c.relnamespace not in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace) order by 1") {
			definition := pgtest.One[string](t, db, "select pg_get_viewdef($1::regclass)", view)
			db.Exec(t, "create view again as "+definition)
			if again := pgtest.One[string](t, db, "select pg_get_viewdef('again'::regclass)"); again != definition {
				t.Errorf("%s is, after a dump and a restore,\n%s\nand was\n%s", view, again, definition)
			}
			db.Exec(t, "drop view again")
		}
	}
}

package explain

import (
	"testing"

	"github.com/pgsluice/sluice/ivm"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

const rewriteTables = `create table orders (id integer primary key, customer integer, amount numeric, placed timestamptz);
create table items (orders_id integer, name text, tags text[]);
create table steps (id integer primary key, parent integer);`

// TestRewrites compiles each example: what it replaces is recomputed for the reason that it is of, and what it replaces it with is followed.
func TestRewrites(t *testing.T) {
	known := catalog.New()
	if errs := known.AddDDL(diag.WholeFile("schema.sql", rewriteTables)); errs.String() != "" {
		t.Fatal(errs)
	}
	compile := func(sql string) *ivm.Plan {
		parsed, err := sqltext.ParseQuery(sql)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		errs := &diag.List{}
		view := ivm.CompileParsed(parsed, sql, diag.WholeFile("query.sql", sql).Pos, known, ivm.Options{States: true}, errs)
		if view == nil {
			t.Fatalf("%s: %s", sql, errs)
		}
		return view
	}
	for _, r := range rewrites {
		found := false
		for _, reason := range compile(r.Instead).Full {
			found = found || rewriteOf(reason) != nil && rewriteOf(reason).of == r.of
		}
		if !found {
			t.Errorf("%s is recomputed for %v, which is not: %s", r.Instead, compile(r.Instead).Full, r.of)
		}
		if full := compile(r.Query).Full; len(full) > 0 {
			t.Errorf("%s is recomputed, too: %v", r.Query, full)
		}
		if _, err := sqltext.ParseQuery(r.View); r.View != "" && err != nil {
			t.Errorf("%s: %v", r.View, err)
		}
	}
}

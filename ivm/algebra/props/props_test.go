package props_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/algebra/props"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/resolve"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// TestProps prints the facts of each node of a query's tree, inputs first.
func TestProps(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var known *catalog.Catalog
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			errs := &diag.List{}
			errs.AddSource("query.sql", d.Input)
			if d.Cmd == "schema" {
				known = catalog.New()
				return known.AddDDL(diag.WholeFile("schema.sql", d.Input)).String()
			}
			q, err := sqltext.ParseQuery(d.Input)
			if err != nil {
				d.Fatalf(t, "%v", err)
			}
			columns := &algebra.Columns{}
			result := resolve.Query(q, d.Input, diag.WholeFile("query.sql", d.Input).Pos, known, columns, errs)
			if !errs.Empty() || result.Root == nil {
				return fmt.Sprint(errs, result.Full)
			}
			var out strings.Builder
			p := props.New(columns)
			algebra.Walk(result.Root, func(n algebra.Node) {
				fmt.Fprintf(&out, "%s\n%s", algebra.Describe(n, columns).Kind, describe(p.Of(n), columns))
			})
			return out.String()
		})
	})
}

// describe prints what is known, a line for each kind of facts.
func describe(f *props.Facts, columns *algebra.Columns) string {
	name := func(id algebra.ColID) string { return fmt.Sprintf("%s#%d", columns.Info(id).Name, id) }
	var all, notNull, passed, key, outer []string
	for _, id := range f.Columns {
		all = append(all, name(id))
		if f.NotNull(id) {
			notNull = append(notNull, name(id))
		}
		if from := f.Origins(id); len(from) > 0 && !slices.Equal(from, []algebra.ColID{id}) {
			passed = append(passed, fmt.Sprintf("%s from %d", name(id), from))
		}
	}
	for _, id := range f.Key(f.Columns) {
		key = append(key, name(id))
	}
	for _, id := range f.Outer {
		outer = append(outer, name(id))
	}
	return line("columns", all) + line("not null", notNull) + line("passed on", passed) + line("key", key) + line("outer", outer)
}

func line(kind string, items []string) string {
	if len(items) == 0 {
		return ""
	}
	return "  " + kind + ": " + strings.Join(items, ", ") + "\n"
}

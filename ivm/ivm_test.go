package ivm_test

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/pgsluice/sluice/ivm"
	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

func TestMain(m *testing.M) {
	ivm.VerifyPasses()
	m.Run()
}

// TestChanges runs testdata: what a query compiles to, how its changes come about, and the SQL of that.
func TestChanges(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var known *catalog.Catalog
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "schema" {
				known = catalog.New()
				return known.AddDDL(diag.WholeFile("schema.sql", d.Input)).String()
			}
			errs := &diag.List{}
			errs.AddSource("query.sql", d.Input)
			view := ivm.Compile(d.Input, diag.WholeFile("query.sql", d.Input).Pos, known, errs)
			if view == nil {
				return errs.String()
			}
			switch d.Cmd {
			case "tree":
				return view.Tree(algebra.Format)
			case "delta":
				return view.DeltaTree(algebra.Format)
			case "simplify":
				return view.SimplifiedTree(algebra.Format)
			case "mermaid":
				return view.DeltaTree(algebra.Mermaid)
			case "graph": // each node is drawn once
				return view.SimplifiedTree(algebra.Mermaid)
			case "strategy":
				return string(view.Strategy) + "\n"
			case "rows":
				return view.Recompute.Rows() + "\n"
			case "sql":
				sql := view.Apply.Signed(tables)
				if again := writtenTwice(sql); again != "" {
					t.Errorf("%s: written twice:\n%s", d.Pos, again)
				}
				return sql + "\n"
			}
			d.Fatalf(t, "unknown command %s", strings.TrimSpace(d.Cmd))
			return ""
		})
	})
}

var tables = ivm.Tables{
	Log:    func(table *catalog.Relation) string { return sqltext.Ident("changes_" + table.Name) },
	Stored: "stored",
}

// writtenTwice finds a common table expression with the query of another: what PostgreSQL would plan and compute again.
func writtenTwice(sql string) string {
	seen := map[string]bool{}
	for _, part := range strings.Split(sql, "\n-- d")[1:] {
		_, query, _ := strings.Cut(part, "materialized (\n")
		query, _, _ = strings.Cut(query, "\n)")
		if seen[query] {
			return query
		}
		seen[query] = true
	}
	return ""
}

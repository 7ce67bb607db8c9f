package resolve_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/resolve"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// TestResolve runs testdata: "schema" is DDL for what follows, "resolve" a query, which gives its tree, or what is wrong with it.
func TestResolve(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var known *catalog.Catalog
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "schema":
				known = catalog.New()
				return problems(known.AddDDL(diag.WholeFile("schema.sql", d.Input)))
			case "resolve":
				return resolved(known, d.Input)
			}
			d.Fatalf(t, "unknown command %s", d.Cmd)
			return ""
		})
	})
}

func problems(errs *diag.List) string {
	if errs.Empty() {
		return ""
	}
	return errs.Error()
}

func resolved(known *catalog.Catalog, query string) string {
	errs := &diag.List{}
	errs.AddSource("query.sql", query)
	q, err := sqltext.ParseQuery(query)
	if err != nil {
		return err.Error()
	}
	columns := &algebra.Columns{}
	result := resolve.Query(q, query, diag.WholeFile("query.sql", query).Pos, known, columns, errs)
	if !errs.Empty() {
		return errs.Error()
	}
	var out strings.Builder
	for _, reason := range result.Full {
		fmt.Fprintf(&out, "full: %s: %s\n", reason.Pos, reason.What)
	}
	if result.Root == nil {
		return out.String()
	}
	if err := algebra.Verify(result.Root); err != nil {
		return "verify: " + err.Error()
	}
	for i, o := range result.Output {
		if got := result.Root.Columns()[i]; got != o.ID {
			return fmt.Sprintf("output %d is column %d, the tree makes %d", i, o.ID, got)
		}
	}
	return out.String() + algebra.Format(result.Root, columns)
}

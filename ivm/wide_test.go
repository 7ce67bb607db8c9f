package ivm_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pgsluice/sluice/ivm"
	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/diag"
)

// TestWideJoin compiles a join of forty tables, whose change has three terms for each join: written out where each stands, they would be 2^40.
func TestWideJoin(t *testing.T) {
	const width = 40
	ddl, query := "", "select t0.id from t0"
	for n := range width {
		ddl += fmt.Sprintf("create table t%d (id int primary key, above int not null);\n", n)
		if n > 0 {
			query += fmt.Sprintf(" join t%d on t%d.id = t%d.above", n, n, n-1)
		}
	}
	known := catalog.New()
	if errs := known.AddDDL(diag.WholeFile("schema.sql", ddl)); !errs.Empty() {
		t.Fatal(errs)
	}
	errs := &diag.List{}
	view := ivm.Compile(query, diag.WholeFile("query.sql", query).Pos, known, errs)
	if !errs.Empty() {
		t.Fatal(errs)
	}
	if n := strings.Count(view.Apply.Signed(tables), "\nd") + 1; n > 2*width {
		t.Errorf("%d common table expressions for %d tables", n, width)
	}
	if n := strings.Count(view.DeltaTree(algebra.Format), "\n"); n > 100*width*width {
		t.Errorf("the tree of the change has %d lines", n)
	}
}

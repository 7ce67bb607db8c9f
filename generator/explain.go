package generator

import (
	"github.com/pgsluice/sluice/generator/explain"
	"github.com/pgsluice/sluice/generator/plan"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Explain says how a stream table is kept up to date: all of it, or one stage. Problems of the spec's queries come back.
func Explain(s *spec.Spec, name, stage, format string) (text string, found bool, errs *diag.List, err error) {
	errs = &diag.List{}
	s = plan.Materialized(s)
	views := plan.Views(s, errs)
	for n, t := range s.StreamTables {
		if t.Name != name && t.Relation.Name != name {
			continue
		}
		if views[n] == nil {
			return "", true, errs, nil
		}
		text, err = explain.Explain(explain.Table{Name: t.Name, Query: t.Query.Block, View: views[n], SQL: changeSQL(views[n], t.Name)}, stage, format)
		return text, true, errs, err
	}
	return "", false, errs, nil
}

// changeSQL is the statement that finds what changed.
func changeSQL(v *ivm.Plan, name string) string {
	return v.Apply.Signed(ivm.Tables{
		Log:    func(table *catalog.Relation) string { return sqltext.Ident("changes_" + table.Name) },
		Stored: sqltext.Ident(name),
	})
}

package generator

import (
	"strings"

	"github.com/pgsluice/sluice/generator/explain"
	"github.com/pgsluice/sluice/generator/plan"
	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/diag"
)

// Explain says how a stream table is kept up to date: all of it, or one stage. Problems of the spec's queries come back.
func Explain(s *spec.Spec, name, stage, format string) (text string, found bool, errs *diag.List, err error) {
	errs = &diag.List{}
	whole := plan.Materialized(s)
	views := plan.Views(whole, errs)
	for n, t := range whole.StreamTables {
		if t.Name != name && t.Relation.Name != name {
			continue
		}
		if views[n] == nil {
			return "", true, errs, nil
		}
		text, err = explain.Explain(explain.Table{Name: t.Name, Query: t.Query.Block, View: views[n], SQL: functionsOf(s, t)}, stage, format)
		return text, true, errs, err
	}
	return "", false, errs, nil
}

// functionsOf are the functions of a stream table, as they are installed; none if the spec has problems, which others report.
func functionsOf(s *spec.Spec, t spec.StreamTable) string {
	_, made := objectsOf(s, &plan.Lineage{}, upgrade.Manifest{}, &diag.List{})
	if made == nil {
		return ""
	}
	var functions []string
	for _, o := range made.List {
		if o.Of == "stream table "+render.Name(t.Relation).Plain() && (o.Kind == "function" || o.Kind == "procedure") {
			functions = append(functions, strings.TrimSpace(o.SQL))
		}
	}
	return strings.Join(functions, "\n\n")
}

package generator

import (
	"fmt"
	"strings"

	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm"
	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// The stages of a query's way to SQL that Explain shows.
const (
	StageResolve  = "resolve"  // names bound
	StageDelta    = "delta"    // differentiated
	StageSimplify = "simplify" // and simplified
	StageSQL      = "sql"      // the statement that finds what changed
)

// Stages are those of Explain, in order.
var Stages = []string{StageResolve, StageDelta, StageSimplify, StageSQL}

// Formats are how Explain draws trees.
var Formats = map[string]ivm.Draw{"text": algebra.Format, "mermaid": algebra.Mermaid}

// Explain says how a stream table is kept up to date: all of it, or one stage. Problems of the spec's queries come back.
func Explain(s *spec.Spec, name, stage string, draw ivm.Draw) (text string, found bool, errs *diag.List) {
	errs = &diag.List{}
	views := compileViews(s, errs).views
	for n, t := range s.StreamTables {
		if t.Name != name && t.Relation.Name != name {
			continue
		}
		if views[n] == nil {
			return "", true, errs
		}
		if stage != "" {
			return explainStage(views[n], t.Name, stage, draw), true, errs
		}
		return explain(views[n], t.Name, draw), true, errs
	}
	return "", false, errs
}

func explain(v *ivm.View, name string, draw ivm.Draw) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s: %s\n", name, v.Strategy())
	for _, reason := range v.Full {
		fmt.Fprintf(&out, "%s: %s cannot be followed, so everything is recomputed\n", reason.Pos, reason.What)
	}
	var sources []string
	for _, table := range v.Sources {
		sources = append(sources, table.SQLName())
	}
	fmt.Fprintf(&out, "reads: %s\n", strings.Join(sources, ", "))
	for _, stage := range Stages {
		if text := explainStage(v, name, stage, draw); text != "" {
			fmt.Fprintf(&out, "\n%s\n%s", stage, text)
		}
	}
	return out.String()
}

func explainStage(v *ivm.View, name, stage string, draw ivm.Draw) string {
	switch stage {
	case StageResolve:
		return v.Tree(draw)
	case StageDelta:
		return v.DeltaTree(draw)
	case StageSimplify:
		return v.SimplifiedTree(draw)
	}
	sql := v.Change(ivm.Tables{
		Log:    func(table *catalog.Relation) string { return sqltext.Ident("changes_" + table.Name) },
		Stored: sqltext.Ident(name),
	})
	if sql == "" {
		return ""
	}
	return sql + "\n"
}

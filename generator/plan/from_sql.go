package plan

import (
	"time"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm/diag"
)

// streamTableFromSQL is the stream table that stands for those that functions create: it is recomputed, and only the server knows its columns. A query without
// columns is compiled in place of theirs.
func streamTableFromSQL(s *spec.Spec) *render.StreamTable {
	one := *s
	one.Inboxes, one.Outboxes, one.ConsumerGroups, one.Schema, one.DDL, one.Pulled = nil, nil, nil, nil, nil, false
	one.StreamTables = []spec.StreamTable{{
		Name: render.AnyBase, RefreshMode: spec.RefreshFull, Schedule: spec.Schedule{Every: spec.Duration(time.Minute)},
		Relation: spec.Name{Schema: s.Extension.Schema, Name: render.AnyBase},
		Query:    spec.Query{Block: diag.Block{Text: "select"}},
	}}
	errs := &diag.List{}
	compiled := compileViews(&one, errs)
	if !errs.Empty() {
		panic(errs.String())
	}
	t := streamTables(&one, compiled, &Lineage{}).StreamTables[0]
	t.Table = render.Name{Schema: render.AnySchema, Name: render.AnyName}
	t.Query, t.Resolved, t.Computes, t.OwnPath = render.AnyQuery, "", render.AnyQuery, t.SearchPath
	return &t
}

// Package ivm compiles a view to the SQL that keeps a table equal to it.
//
// Files call downwards: ivm, plan, chosen, state_index, sharded, immediate, by_key, cost, cost_lookup, states, recursion, statements, rule, needs, storage, sql, strategy, view, passes, whole, limit, size, settings, qualified,
// internal, problems.
package ivm

import (
	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/resolve"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Compile turns a query into a plan; pos describes where an offset in its text is. Problems go to errs, and the plan is nil if there are any.
func Compile(query string, pos func(offset int) diag.Pos, known *catalog.Catalog, errs *diag.List) *Plan {
	parsed, err := sqltext.ParseQuery(query)
	if err != nil {
		errs.Add(SyntaxError(pos, err))
		return nil
	}
	return CompileParsed(parsed, query, pos, known, Options{}, errs)
}

// CheckDDL has the queries and expressions of DDL checked that is added to a catalog from now on. Made reports what is generated, which DDL may name.
func CheckDDL(known *catalog.Catalog, errs *diag.List, made func(schema, name string) bool) {
	known.CheckDDL(resolve.DDL{Errs: errs, Made: made})
}

// CompileParsed is Compile for a query that was parsed before.
func CompileParsed(parsed sqltext.Query, query string, pos func(offset int) diag.Pos, known *catalog.Catalog, options Options, errs *diag.List) *Plan {
	before := errs.Len()
	columns := &algebra.Columns{}
	v := newView(columns)
	v.keeps = options.States
	v.Result = resolve.Query(parsed, query, pos, known, columns, errs)
	if errs.Len() > before {
		return nil
	}
	v.wholeIfEmpty(pos(0))
	v.refuseHuge(pos(0))
	afterPass("resolve", v.Root)
	v.unlimit(options)
	v.Root = through(viewPasses(columns, v.props), v.Root)
	v.refuseRecursion()
	v.refuseUnseen(pos(0))
	if v.Root == nil {
		v.limit = nil // the query itself is stored
	}
	v.choose()
	v.storage = v.stored()
	return v.plan(query, known)
}

// refuseUnseen has a view recomputed that reads what triggers do not see: a virtual column, a table that a crash empties.
func (v *view) refuseUnseen(at diag.Pos) {
	if v.Root == nil {
		return
	}
	algebra.Walk(v.Root, func(n algebra.Node) {
		read, ok := n.(*algebra.Source)
		if !ok {
			return
		}
		if read.Table.Unlogged {
			v.Full = append(v.Full, resolve.Reason{
				Pos: at, What: "unlogged table " + read.Table.Name, Hint: "make it a logged one: a crash empties it, which no trigger sees",
			})
		}
		for _, c := range read.Cols {
			if column := read.Table.Columns[c.Attr]; column.Virtual {
				v.Full = append(v.Full, resolve.Reason{
					Pos: at, What: "virtual generated column " + read.Table.Name + "." + column.Name, Hint: "make it a stored one, or write its expression into the query",
				})
			}
		}
	})
	if v.movesWithTime() && len(v.sources()) == 0 {
		v.Full = append(v.Full, resolve.Reason{Pos: *v.Moment, What: "the time of day without a table beside it"})
	}
	if len(v.Full) > 0 {
		v.Root = nil
	}
}

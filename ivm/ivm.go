// Package ivm compiles a view to the SQL that keeps a table equal to it.
//
// Files call downwards: ivm, plan, chosen, state_index, sharded, immediate, by_key, cost, cost_lookup, states, recursion, statements, rule, needs, storage, sql, strategy, view, passes, whole, limit, size, settings, qualified,
// internal, problems.
package ivm

import (
	"fmt"
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/apply"
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
	v.refuseUnseen(query, pos)
	if v.Root == nil {
		v.limit = nil // the query itself is stored
	}
	v.choose()
	v.storage = v.stored()
	return v.plan(query, known)
}

// refuseUnseen has a view recomputed that reads what triggers do not see or change logs cannot hold.
func (v *view) refuseUnseen(query string, pos func(offset int) diag.Pos) {
	if v.Root == nil {
		return
	}
	refuse := func(reason resolve.Reason) {
		if !slices.Contains(v.Full, reason) {
			v.Full = append(v.Full, reason)
		}
	}
	algebra.Walk(v.Root, func(n algebra.Node) {
		read, ok := n.(*algebra.Source)
		if !ok {
			return
		}
		if read.Table.Unlogged {
			refuse(resolve.Reason{Pos: pos(0), What: "unlogged table " + read.Table.Name, Hint: "make it a logged one: a crash empties it, which no trigger sees"})
		}
		for _, c := range read.Cols {
			switch column := read.Table.Columns[c.Attr]; {
			case column.Virtual:
				refuse(resolve.Reason{
					Pos: pos(0), What: "virtual generated column " + read.Table.Name + "." + column.Name, Hint: "make it a stored one, or write its expression into the query",
				})
			case slices.Contains(besideChanges, column.Name) && read.Table.Kind != catalog.StreamTable && read.Table.Before == nil:
				refuse(v.unlogged(query, pos, read.Table, column.Name))
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

// besideChanges are the columns with which changes of a table are logged beside its own.
var besideChanges = []string{"__no", "__xid", apply.Mult, "__kept"}

// unlogged is why the changes of a table are not logged: one of its columns has the name of a column of change logs.
func (v *view) unlogged(query string, pos func(offset int) diag.Pos, table *catalog.Relation, name string) resolve.Reason {
	through, found := v.Through[table]
	if found && name == apply.Mult && table.Column(apply.Hash) >= 0 {
		return resolve.Reason{
			Pos: through.Pos, What: "changes of equal rows of stream table " + through.View.SQLName() + " of another extension",
			Hint: "describe both in one spec, or have the other stream table select a key",
		}
	}
	at := pos(0)
	if found {
		at = through.Pos
	}
	for _, mentioned := range sqltext.Names(query) {
		if mentioned.Name == name {
			at = pos(mentioned.Offset)
			break
		}
	}
	return resolve.Reason{
		Pos: at, What: fmt.Sprintf("changes of %s, whose column %q has the name of a column of change logs", table.SQLName(), name),
		Hint: "rename it in the table; an alias in the query does not help",
	}
}

// Package ivm compiles a view to the SQL that keeps a table equal to it.
package ivm

import (
	"sync"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/algebra/props"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/resolve"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// View is a compiled query.
type View struct {
	resolve.Result
	Columns *algebra.Columns
	props   *props.Props

	only    *catalog.Relation // the one table that changes; nil: any may
	storage func() Storage    // asked for each column
}

// OnlyChanging is the view where nothing but one table changes.
func (v *View) OnlyChanging(table *catalog.Relation) *View {
	narrowed := *v
	narrowed.only = table
	return &narrowed
}

// Compile resolves a query and simplifies its tree; pos tells where an offset
// in its text is. Problems go to errs, and the view is nil if there are any.
func Compile(query string, pos func(offset int) diag.Pos, known *catalog.Catalog, errs *diag.List) *View {
	parsed, err := sqltext.ParseQuery(query)
	if err != nil {
		errs.Add(syntaxError(pos, err))
		return nil
	}
	return CompileParsed(parsed, pos, known, errs)
}

// CompileParsed is Compile for a query that was parsed before.
func CompileParsed(parsed sqltext.Query, pos func(offset int) diag.Pos, known *catalog.Catalog, errs *diag.List) *View {
	before := errs.Len()
	v := &View{Columns: &algebra.Columns{}}
	v.props = props.New(v.Columns)
	v.storage = sync.OnceValue(v.stored)
	v.Result = resolve.Query(parsed, pos, known, v.Columns, errs)
	if errs.Len() > before {
		return nil
	}
	v.wholeIfEmpty(pos(0))
	v.refuseHuge(pos(0))
	afterPass("resolve", v.Root)
	v.Root = through(viewPasses(v.Columns), v.Root)
	v.refuseUnseen(pos(0))
	return v
}

// refuseUnseen has a view recomputed that reads what triggers do not see: a virtual column, a table that a crash empties.
func (v *View) refuseUnseen(at diag.Pos) {
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
	if len(v.Full) > 0 {
		v.Root = nil
	}
}

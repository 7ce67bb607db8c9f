package resolve

import (
	"fmt"
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// xmlTable resolves XMLTABLE: the rows that it makes of a document for each row of what stands before it.
func (r *resolver) xmlTable(item *sqltext.XMLTableRef, before *scope) (algebra.Node, *scope) {
	call := r.bind(item.Call(), before, argumentInFrom)
	r.checkXMLTable(call.Expr)
	each := &algebra.Each{Input: algebra.OneRow(), Calls: []algebra.RowCall{{Call: call}}}
	var columns []column
	for _, def := range item.Defs {
		c := r.columnOf(def.Name, "integer", catalog.Shape{Kind: catalog.ValueShape})
		if !def.Ordinality {
			c = r.columnOf(def.Name, r.checker().Named(def.Named), r.catalog.ShapeOf(def.Type))
		}
		columns, each.Cols = append(columns, c), append(each.Cols, c.id)
	}
	name := item.Alias
	if name == "" {
		name = "xmltable"
	}
	columns = r.rename(max(0, item.Pos), columns, theTable(name), item.Columns, false)
	return each, &scope{tables: []namedTable{{name: name, columns: columns}}, visible: columns}
}

// checkXMLTable checks the types of what XMLTABLE takes, and the names of its columns.
func (r *resolver) checkXMLTable(bound sqltext.Expr) {
	const construct = "XMLTABLE"
	item, _ := bound.XMLTable()
	takes := func(e sqltext.Expr, typ string) {
		if !e.IsZero() {
			r.checker().Argument(e, construct, typ)
		}
	}
	takes(item.Document, "xml")
	takes(item.Row, "text")
	for _, n := range item.Namespaces {
		takes(n.Expr, "text")
	}
	numbered := false
	for i, def := range item.Defs {
		if slices.ContainsFunc(item.Defs[:i], func(d sqltext.XMLColumn) bool { return d.Name == def.Name }) {
			r.errs.Add(repeatedColumn(r.pos(def.Pos), def.Name))
		}
		if def.Ordinality {
			if numbered {
				r.errs.Add(secondOrdinality(r.pos(def.Pos)))
			}
			numbered = true
			continue
		}
		takes(def.Path, "text")
		if typ := r.checker().Named(def.Named); typ != "" {
			takes(def.Default, typ)
		}
	}
}

func repeatedColumn(at diag.Pos, name string) diag.Error {
	return diag.Error{Pos: at, Code: "duplicate-column", Message: fmt.Sprintf("column name %q is not unique", name)}
}

func secondOrdinality(at diag.Pos) diag.Error {
	return diag.Error{Pos: at, Code: "duplicate-column", Message: "only one FOR ORDINALITY column is allowed"}
}

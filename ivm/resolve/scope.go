package resolve

import (
	"fmt"
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// scope is what the names of a clause may mean.
type scope struct {
	tables  []namedTable
	visible []column // what names without a table, and *, stand for, in order
	ctes    *cteScope
	outer   *scope    // of a subquery in an expression, or of LATERAL
	open    bool      // holds a table whose columns are not known: any name may be one
	order   *ordering // in which its rows come
	windows []sqltext.Window
	aliases []string // of the select list, which expressions of its query do not know
	values  *joining // binds the expression whose subquery is being resolved
	level   *level   // of its query; nil of an item of FROM
}

// namedTable is an item of FROM under the name that it goes by.
type namedTable struct {
	schema, name string // schema only where the item is a table without an alias
	columns      []column
	open         bool          // other columns are not known
	stored       bool          // a table, which has system columns
	hidden       string        // its own name, where an alias stands for it
	fields       bool          // those of its whole row are its columns: a table's row has not the names that an alias gives to columns
	place        place         // of a table whose rows can be had as values
	row          algebra.ColID // its whole row, where one is wanted
	rowPlace     place         // of a subquery whose rows can be had as JSON
	json         map[string]algebra.ColID
	value        algebra.ColID // what its whole row is, where that is a value, as of a function in FROM that returns values
}

// column is a name and what it stands for.
type column struct {
	name string
	id   algebra.ColID
}

// owns reports whether a column is of this scope and not of one around it.
func (s *scope) owns(id algebra.ColID) bool {
	is := func(c column) bool { return c.id == id }
	return slices.ContainsFunc(s.visible, is) || slices.ContainsFunc(s.tables, func(t namedTable) bool {
		return t.row == id || t.json[asJSONB] == id || t.json[asJSON] == id || slices.ContainsFunc(t.columns, is)
	})
}

// knowsAny reports whether any name may be a column of the scope, or of one around it.
func (s *scope) knowsAny() bool { return s != nil && (s.open || s.outer.knowsAny()) }

// column finds what a column reference means, from the innermost scope out.
func (r *resolver) column(ref sqltext.Ref, s *scope) (algebra.ColID, bool) {
	name, qualifier := ref.Parts[len(ref.Parts)-1], ref.Parts[:len(ref.Parts)-1]
	var seen []column
	for at := s; at != nil; at = at.outer {
		among, open := at.visible, at.open
		var table *namedTable
		if len(qualifier) > 0 {
			if table = at.table(qualifier); table == nil {
				continue
			}
			among, open = table.columns, table.open
		}
		seen = append(seen, among...)
		switch found := named(among, name); {
		case len(found) == 1:
			r.reading.noteColumn(at.level)
			return found[0], true
		case len(found) > 1:
			r.errs.Add(ambiguousColumn(r.columnPos(ref), name))
			return 0, false
		case open:
			r.reading.noteColumn(at.level)
			return 0, false
		case isSystemColumn(name) && slices.ContainsFunc(at.tables, func(t namedTable) bool { return t.stored && (table == nil || t.name == table.name) }):
			r.full(ref.Pos, "system column "+name, "it is a row's place or age; leave it out")
			return 0, false
		case table != nil && r.computes(name):
			r.full(ref.Pos, "function called like a column ("+name+")", "call it: "+name+"(…)")
			r.result.Full[len(r.result.Full)-1].Calls = true
			return 0, false
		case len(qualifier) > 0 || at.outer == nil:
			e := unknownColumn(r.columnPos(ref), name, seen)
			if len(qualifier) == 0 {
				e.Hint = r.mistaken(ref.Pos, name, s, e.Hint)
			}
			r.errs.Add(e)
			return 0, false
		}
	}
	r.errs.Add(unknownAlias(r.pos(ref.Pos), qualifier, s))
	return 0, false
}

// mistaken is the hint for a name that no column has.
func (r *resolver) mistaken(at int, name string, s *scope, nearest string) string {
	for ; s != nil; s = s.outer {
		if slices.Contains(s.aliases, name) {
			return fmt.Sprintf("%q is a name of the select list, which is computed last: repeat its expression, or select from a subquery that has it", name)
		}
	}
	if nearest == "" && at < len(r.text) && r.text[at] == '"' {
		return fmt.Sprintf("double quotes are for names; a text is written %s", sqltext.Literal(name))
	}
	return nearest
}

// columnPos is where the column of a reference stands, behind its table.
func (r *resolver) columnPos(ref sqltext.Ref) diag.Pos {
	return r.pos(sqltext.LastName(r.text, ref.Pos, len(ref.Parts)))
}

// computes reports whether DDL makes a function of one argument by which a row can be asked for as for one of its columns.
func (r *resolver) computes(name string) bool {
	return slices.ContainsFunc(r.catalog.Function("", name), func(f catalog.Function) bool { return len(f.Args) == 1 })
}

// systemColumns are those that each table has besides its own.
var systemColumns = []string{"tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"}

func isSystemColumn(name string) bool { return slices.Contains(systemColumns, name) }

// table finds the item of FROM that a qualifier names.
func (s *scope) table(qualifier []string) *namedTable {
	name := qualifier[len(qualifier)-1]
	for i, t := range s.tables {
		if t.name == name && (len(qualifier) == 1 || t.schema == qualifier[len(qualifier)-2]) {
			return &s.tables[i]
		}
	}
	return nil
}

// tableAround finds the item of FROM that a qualifier names, from the innermost scope out.
func (r *resolver) tableAround(s *scope, qualifier []string) *namedTable {
	for ; s != nil; s = s.outer {
		if t := s.table(qualifier); t != nil {
			r.reading.noteColumn(s.level)
			return t
		}
	}
	return nil
}

func named(columns []column, name string) []algebra.ColID {
	var found []algebra.ColID
	for _, c := range columns {
		if c.name == name {
			found = append(found, c.id)
		}
	}
	return found
}

// add puts the tables of an item of FROM into scope.
func (r *resolver) add(s *scope, item *scope, at int) {
	for _, t := range item.tables {
		taken := t.name != "" && slices.ContainsFunc(s.tables, func(o namedTable) bool {
			return o.name == t.name && (o.schema == t.schema || o.schema == "" || t.schema == "")
		})
		if taken {
			r.errs.Add(repeatedTable(r.pos(at), t.name))
		}
	}
	if len(s.tables) > 0 && (s.order != nil || item.order != nil) {
		s.order = unknownOrder
	} else {
		s.order = item.order
	}
	s.tables = append(s.tables, item.tables...)
	s.visible = append(s.visible, item.visible...)
	s.open = s.open || item.open
}

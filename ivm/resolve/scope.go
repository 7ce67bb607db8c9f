package resolve

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// scope is what the names of a clause may mean.
type scope struct {
	tables  []namedTable
	visible []column // what names without a table, and *, stand for, in order
	ctes    *cteScope
	outer   *scope // of a subquery in an expression, or of LATERAL
	open    bool   // holds a table whose columns are not known: any name may be one
}

// namedTable is an item of FROM under the name that it goes by.
type namedTable struct {
	schema, name string // schema only where the item is a table without an alias
	columns      []column
	open         bool // other columns are not known
}

// column is a name and what it stands for.
type column struct {
	name string
	id   algebra.ColID
}

// column finds what a column reference means, from the innermost scope out.
func (r *resolver) column(ref sqltext.Ref, s *scope) (algebra.ColID, bool) {
	name, qualifier := ref.Parts[len(ref.Parts)-1], ref.Parts[:len(ref.Parts)-1]
	var seen []column
	for at := s; at != nil; at = at.outer {
		among, open := at.visible, at.open
		if len(qualifier) > 0 {
			t := at.table(qualifier)
			if t == nil {
				continue
			}
			among, open = t.columns, t.open
		}
		seen = append(seen, among...)
		switch found := named(among, name); {
		case len(found) == 1:
			return found[0], true
		case len(found) > 1:
			r.errs.Add(ambiguousColumn(r.pos(ref.Pos), name))
			return 0, false
		case open:
			return 0, false
		case isSystemColumn(name) && len(at.tables) > 0:
			r.errs.Add(refused(r.pos(ref.Pos), "column "+name, "it is a row's place or age, not a value"))
			return 0, false
		case len(qualifier) > 0 || at.outer == nil:
			r.errs.Add(unknownColumn(r.pos(ref.Pos), name, seen))
			return 0, false
		}
	}
	r.errs.Add(unknownAlias(r.pos(ref.Pos), qualifier, s))
	return 0, false
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
		taken := slices.ContainsFunc(s.tables, func(o namedTable) bool {
			return o.name == t.name && (o.schema == t.schema || o.schema == "" || t.schema == "")
		})
		if taken {
			r.errs.Add(repeatedTable(r.pos(at), t.name))
		}
	}
	s.tables = append(s.tables, item.tables...)
	s.visible = append(s.visible, item.visible...)
	s.open = s.open || item.open
}

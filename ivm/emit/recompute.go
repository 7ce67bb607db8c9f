package emit

import (
	"fmt"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/apply"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Query is what a recomputation reads.
type Query struct {
	SQL      string // the view's query
	Stored   string // holds the rows that are stored
	Computed string // what to read in place of the query; may be empty
}

// Recompute writes the view as it is less what is stored, as lines of common table expressions. Where an index finds rows by their identity, differ
// pairs them, and delta follows only if signed rows are asked for.
func Recompute(r apply.Recompute, columns *algebra.Columns, q Query, signedRows bool) []string {
	s := r.Storage
	var ctes []CTE
	from := "(\n" + q.SQL + "\n) q"
	if q.Computed != "" {
		from = q.Computed + " q"
	} else if !r.FromQuery() {
		w, last := rows(r, columns)
		ctes, from = w.CTEs, last+" q"
	}
	if s.Paired() {
		ctes = append(ctes, differ(s, from, q.Stored, signedRows))
		if signedRows {
			ctes = append(ctes, ofPairs(s))
		}
		return list(ctes)
	}
	lines := append(clause("select", append(prefixed("q", s.Stored), "1 as "+apply.Mult)), "from "+from, "union all")
	taken := "-1"
	if s.Repeats {
		taken = "-s." + apply.Mult
	}
	lines = append(lines, clause("select", append(prefixed("s", s.Stored), taken))...)
	lines = append(lines, "from "+q.Stored+" s")
	signed := CTE{Name: signedName, Comment: "the query − what is stored", Lines: lines}
	return list(append(ctes, signed, addUp(s, signedName, "")))
}

// Columns of differ: whether the query has the row, where it is stored, and what is stored there.
const (
	comes = "__comes"
	at    = "__at"
	was   = "__was"
)

// differ is a full join of the query's rows and those stored, less those that are the same; old: with the columns that are stored.
func differ(s apply.Storage, from, stored string, old bool) CTE {
	list := []string{"s." + at, "q." + comes}
	var unlike []string
	for i, name := range s.Stored {
		column := sqltext.Ident(name)
		list = append(list, "q."+column)
		switch {
		case s.Varied[i]:
			unlike = append(unlike, sqltext.Unlike("q."+column, "s."+column, s.Types[i]))
		case s.Identifies(name):
		case sqltext.IsCommon(s.Types[i]):
			unlike = append(unlike, "q."+column+" is distinct from s."+column)
		default:
			unlike = append(unlike, "q."+column+"::text is distinct from s."+column+"::text")
		}
	}
	for i, name := range s.Stored {
		if old {
			list = append(list, fmt.Sprintf("s.%s as %s%d", sqltext.Ident(name), was, i+1))
		}
	}
	lines := append(clause("select", list), twoLines("from (select q.*, true as "+comes, "from "+from+") q")...)
	lines = append(lines, "full join (select s.*, s.ctid as "+at+" from "+stored+" s) s on "+Same(s, "q", "s"))
	lines = append(lines, anyOf("where", append([]string{"q." + comes + " is null", "s." + at + " is null"}, unlike...))...)
	return CTE{Name: "differ", Comment: "the query's rows beside those stored, where they are not the same", Keep: true, Lines: lines}
}

// ofPairs is delta, of differ.
func ofPairs(s apply.Storage) CTE {
	var old []string
	for i, name := range s.Stored {
		old = append(old, fmt.Sprintf("d.%s%d as %s", was, i+1, sqltext.Ident(name)))
	}
	lines := append(clause("select", append(prefixed("d", s.Stored), "1::bigint as "+apply.Mult)), "from differ d", "where d."+comes, "union all")
	lines = append(lines, clause("select", append(old, "-1"))...)
	return CTE{Name: DeltaName, Comment: "what comes and goes", Lines: append(lines, "from differ d", "where d."+at+" is not null")}
}

package sqltext

import (
	"cmp"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v5"
)

// Reads is what the text of a query names outside of itself.
type Reads struct {
	Tables []*TableRef // tables and views, in the order of the text, without the names of WITH queries
	Uses   []Use       // functions, operators, types and collations
}

// ReadsOf parses a query, as ParseQuery does, and returns what it names.
func ReadsOf(text string) (Reads, error) {
	if _, err := ParseQuery(text); err != nil {
		return Reads{}, err
	}
	tree, err := Parse(text)
	if err != nil {
		return Reads{}, err
	}
	found := &Reads{}
	walk(tree.Stmts[0].Stmt, found.inScope(nil))
	slices.SortStableFunc(found.Tables, func(a, b *TableRef) int { return cmp.Compare(a.Pos, b.Pos) })
	return *found, nil
}

// inScope visits what stands where these WITH queries are seen.
func (r *Reads) inScope(with []string) func(message any) bool {
	return func(message any) bool {
		r.Uses = append(r.Uses, uses(message)...)
		switch m := message.(type) {
		case *pg_query.SelectStmt:
			return r.query(m, with)
		case *pg_query.TypeCast:
			if m.Arg.GetAConst() != nil {
				cast := use(UsesType, m.TypeName.Names, m.TypeName.Location)
				cast.OfConstant = true
				r.Uses = append(r.Uses, cast)
				return false
			}
		case *pg_query.LockingClause:
			return false // it names aliases
		case *pg_query.RangeVar:
			if m.Schemaname != "" || !slices.Contains(with, m.Relname) {
				r.Tables = append(r.Tables, &TableRef{Pos: int(m.Location), Schema: m.Schemaname, Name: m.Relname})
			}
		}
		return true
	}
}

// query visits a query that has WITH queries; of others it says that walk may go on.
func (r *Reads) query(stmt *pg_query.SelectStmt, with []string) bool {
	if stmt.WithClause == nil {
		return true
	}
	inner := slices.Clone(with)
	if stmt.WithClause.Recursive {
		inner = append(inner, cteNames(stmt.WithClause)...)
	}
	for _, n := range stmt.WithClause.Ctes {
		cte := n.GetCommonTableExpr()
		walk(cte, r.inScope(slices.Clone(inner)))
		inner = append(inner, cte.Ctename)
	}
	visit := r.inScope(inner)
	walk(stmt, func(message any) bool {
		if message == any(stmt) {
			return true
		}
		_, seen := message.(*pg_query.WithClause)
		return !seen && visit(message)
	})
	return false
}

func cteNames(with *pg_query.WithClause) []string {
	var names []string
	for _, n := range with.Ctes {
		names = append(names, n.GetCommonTableExpr().Ctename)
	}
	return names
}

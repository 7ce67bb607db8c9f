package ddl

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v5"
)

func (r *reader) addType(name []*pg_query.Node, kind TypeKind) *CreateType {
	t := &CreateType{Name: r.objectName(name), Kind: kind}
	t.place = place(t.Name.Pos)
	r.add(t)
	return t
}

func (r *reader) createRange(n *pg_query.CreateRangeStmt) {
	t := r.addType(n.TypeName, RangeType)
	for _, node := range n.Params {
		if option := node.GetDefElem(); option.GetDefname() == "multirange_type_name" {
			t.Multi = r.optionName(option.GetArg())
		}
	}
}

func (r *reader) createComposite(n *pg_query.CompositeTypeStmt) {
	name := r.rangeVar(n.Typevar)
	t := &CreateType{place: place(name.Pos), Name: name, Kind: CompositeType}
	for _, node := range n.Coldeflist {
		column, _ := r.column(node.GetColumnDef())
		t.Columns = append(t.Columns, column)
	}
	r.add(t)
}

func (r *reader) createDomain(n *pg_query.CreateDomainStmt) {
	t := r.addType(n.Domainname, DomainType)
	t.Base = r.typeName(n.TypeName)
	t.Collation = r.collation(n.CollClause)
	for _, node := range n.Constraints {
		switch c := node.GetConstraint(); c.GetContype() {
		case pg_query.ConstrType_CONSTR_NOTNULL:
			t.NotNull = true
		case pg_query.ConstrType_CONSTR_CHECK:
			t.Checks = append(t.Checks, r.check(c))
		}
	}
}

// check is the text between the parentheses of CHECK.
func (r *reader) check(n *pg_query.Constraint) string {
	tokens := r.scan()
	for i, t := range tokens {
		if int(t.Start) >= int(n.Location) && t.Token == openParen {
			return strings.TrimSpace(r.text[t.End:tokens[closing(tokens, i)].Start])
		}
	}
	return ""
}

func (r *reader) alterDomain(n *pg_query.AlterDomainStmt) {
	name := r.objectName(n.TypeName)
	switch n.Subtype {
	case "N", "O":
		r.add(&AlterDomain{place: place(name.Pos), Name: name, NotNull: n.Subtype == "O"})
	}
}

func (r *reader) alterEnum(n *pg_query.AlterEnumStmt) {
	name := r.objectName(n.TypeName)
	r.add(&AlterEnum{place: place(name.Pos), Name: name, Old: n.OldVal, New: n.NewVal})
}

// closing returns the index of the token that closes the parenthesis at index open, or of the last one.
func closing(tokens []*pg_query.ScanToken, open int) int {
	depth := 0
	for i := open; i < len(tokens); i++ {
		switch tokens[i].Token {
		case openParen:
			depth++
		case closeParen:
			depth--
		}
		if depth == 0 {
			return i
		}
	}
	return len(tokens) - 1
}

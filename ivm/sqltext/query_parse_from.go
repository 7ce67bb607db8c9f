package sqltext

import pg_query "github.com/pganalyze/pg_query_go/v5"

func froms(nodes []*pg_query.Node) []From {
	var all []From
	for _, n := range nodes {
		all = append(all, from(n))
	}
	return all
}

func from(node *pg_query.Node) From {
	switch n := node.Node.(type) {
	case *pg_query.Node_RangeVar:
		return tableRef(n.RangeVar)
	case *pg_query.Node_RangeTableSample:
		t := tableRef(n.RangeTableSample.Relation.GetRangeVar())
		t.Sample = sample(n.RangeTableSample)
		return t
	case *pg_query.Node_RangeSubselect:
		s := n.RangeSubselect
		alias, columns := aliasOf(s.Alias)
		return &SubqueryRef{Pos: leftmost(node), Query: query(s.Subquery.GetSelectStmt()), Lateral: s.Lateral, Alias: alias, Columns: columns}
	case *pg_query.Node_RangeFunction:
		return functionRef(n.RangeFunction)
	case *pg_query.Node_RangeTableFunc:
		return xmlTable(n.RangeTableFunc)
	case *pg_query.Node_JoinExpr:
		return join(n.JoinExpr)
	}
	return nil // checkQuery knows no other
}

func aliasOf(a *pg_query.Alias) (name string, columns []string) {
	return a.GetAliasname(), Strings(a.GetColnames())
}

func tableRef(r *pg_query.RangeVar) *TableRef {
	alias, columns := aliasOf(r.Alias)
	return &TableRef{Pos: int(r.Location), Schema: r.Schemaname, Name: r.Relname, Alias: alias, Columns: columns, Only: !r.Inh}
}

func sample(s *pg_query.RangeTableSample) *Sample {
	schema, method := qualified(s.Method)
	return &Sample{Pos: int(s.Location), Schema: schema, Method: method, Args: exprs(s.Args), Repeatable: Expr{s.Repeatable}}
}

func functionRef(r *pg_query.RangeFunction) *FunctionRef {
	f := &FunctionRef{Pos: leftmost(r), Lateral: r.Lateral, Ordinality: r.Ordinality, RowsFrom: r.IsRowsfrom, Defs: columnDefs(r.Coldeflist)}
	f.Alias, f.Columns = aliasOf(r.Alias)
	for _, n := range r.Functions {
		pair := n.GetList().Items // a call and its column definitions
		f.Functions = append(f.Functions, Function{Call: Expr{pair[0]}, Defs: columnDefs(pair[1].GetList().GetItems())})
	}
	return f
}

func columnDefs(nodes []*pg_query.Node) []ColumnDef {
	var all []ColumnDef
	for _, n := range nodes {
		d := n.GetColumnDef()
		all = append(all, ColumnDef{Pos: int(d.Location), Name: d.Colname, Type: typeSQL(d.TypeName), Named: TypeOf(d.TypeName), Collation: dotted(d.CollClause.GetCollname())})
	}
	return all
}

func xmlTable(r *pg_query.RangeTableFunc) *XMLTableRef {
	x := &XMLTableRef{
		Pos: int(r.Location), Lateral: r.Lateral,
		Namespaces: targets(r.Namespaces), Row: Expr{r.Rowexpr}, Document: Expr{r.Docexpr}, node: r,
	}
	x.Alias, x.Columns = aliasOf(r.Alias)
	for _, n := range r.Columns {
		x.Defs = append(x.Defs, xmlColumn(n.GetRangeTableFuncCol()))
	}
	return x
}

func xmlColumn(c *pg_query.RangeTableFuncCol) XMLColumn {
	x := XMLColumn{
		Pos: int(c.Location), Name: c.Colname, Ordinality: c.ForOrdinality, NotNull: c.IsNotNull,
		Path: Expr{c.Colexpr}, Default: Expr{c.Coldefexpr},
	}
	if c.TypeName != nil {
		x.Type, x.Named = typeSQL(c.TypeName), TypeOf(c.TypeName)
	}
	return x
}

// Call returns XMLTABLE as an expression, without its alias. Only FROM can hold it.
func (f *XMLTableRef) Call() Expr {
	call := &pg_query.RangeTableFunc{
		Namespaces: f.node.Namespaces, Docexpr: f.node.Docexpr, Rowexpr: f.node.Rowexpr, Columns: f.node.Columns, Location: f.node.Location,
	}
	return Expr{&pg_query.Node{Node: &pg_query.Node_RangeTableFunc{RangeTableFunc: call}}}
}

// XMLTable returns what the XMLTABLE that the expression is says.
func (e Expr) XMLTable() (*XMLTableRef, bool) {
	n := e.node.GetRangeTableFunc()
	if n == nil {
		return nil, false
	}
	return xmlTable(n), true
}

var joinKinds = map[pg_query.JoinType]JoinKind{
	pg_query.JoinType_JOIN_INNER: Inner,
	pg_query.JoinType_JOIN_LEFT:  Left,
	pg_query.JoinType_JOIN_RIGHT: Right,
	pg_query.JoinType_JOIN_FULL:  Full,
}

func join(j *pg_query.JoinExpr) *JoinRef {
	r := &JoinRef{
		Pos: leftmost(j), Kind: joinKinds[j.Jointype], Natural: j.IsNatural,
		Using: Strings(j.UsingClause), UsingAlias: j.JoinUsingAlias.GetAliasname(), On: Expr{j.Quals},
		Left: from(j.Larg), Right: from(j.Rarg),
	}
	r.Alias, r.Columns = aliasOf(j.Alias)
	if r.Kind == Inner && !r.Natural && len(r.Using) == 0 && r.On.IsZero() {
		r.Kind = Cross
	}
	return r
}

package sqltext

import pg_query "github.com/pganalyze/pg_query_go/v5"

func (r rebuilder) from(f From) *pg_query.Node {
	switch f := f.(type) {
	case *TableRef:
		return r.table(f)
	case *SubqueryRef:
		s := &pg_query.RangeSubselect{
			Lateral: f.Lateral, Alias: aliasNode(f.Alias, f.Columns),
			Subquery: &pg_query.Node{Node: &pg_query.Node_SelectStmt{SelectStmt: rebuild(r.t, f.Query)}},
		}
		return &pg_query.Node{Node: &pg_query.Node_RangeSubselect{RangeSubselect: s}}
	case *FunctionRef:
		return r.functions(f)
	case *XMLTableRef:
		return r.xmlTable(f)
	case *JoinRef:
		return r.join(f)
	}
	panic("no from")
}

func aliasNode(name string, columns []string) *pg_query.Alias {
	if name == "" {
		return nil
	}
	return &pg_query.Alias{Aliasname: name, Colnames: stringNodes(columns)}
}

func (r rebuilder) table(f *TableRef) *pg_query.Node {
	v := &pg_query.RangeVar{Schemaname: f.Schema, Relname: f.Name, Inh: !f.Only, Relpersistence: "p", Alias: aliasNode(f.Alias, f.Columns)}
	n := &pg_query.Node{Node: &pg_query.Node_RangeVar{RangeVar: v}}
	if f.Sample == nil {
		return n
	}
	s := &pg_query.RangeTableSample{
		Relation: n, Method: nameNodes(f.Sample.Schema, f.Sample.Method), Args: nodes(f.Sample.Args...), Repeatable: f.Sample.Repeatable.node,
	}
	return &pg_query.Node{Node: &pg_query.Node_RangeTableSample{RangeTableSample: s}}
}

func (r rebuilder) functions(f *FunctionRef) *pg_query.Node {
	out := &pg_query.RangeFunction{
		Lateral: f.Lateral, Ordinality: f.Ordinality, IsRowsfrom: f.RowsFrom, Alias: aliasNode(f.Alias, f.Columns), Coldeflist: r.defs(f.Defs),
	}
	for _, function := range f.Functions {
		defs := &pg_query.Node{}
		if len(function.Defs) > 0 {
			defs = pg_query.MakeListNode(r.defs(function.Defs))
		}
		out.Functions = append(out.Functions, pg_query.MakeListNode([]*pg_query.Node{function.Call.node, defs}))
	}
	return &pg_query.Node{Node: &pg_query.Node_RangeFunction{RangeFunction: out}}
}

func (r rebuilder) defs(list []ColumnDef) []*pg_query.Node {
	var out []*pg_query.Node
	for _, d := range list {
		n := pg_query.MakeSimpleColumnDefNode(d.Name, r.typeName(d.Type), nil, -1)
		if d.Collation != "" {
			n.GetColumnDef().CollClause = r.parse("select x collate " + d.Collation).TargetList[0].GetResTarget().Val.GetCollateClause()
			n.GetColumnDef().CollClause.Arg = nil
		}
		out = append(out, n)
	}
	return out
}

func (r rebuilder) xmlTable(f *XMLTableRef) *pg_query.Node {
	out := &pg_query.RangeTableFunc{
		Lateral: f.Lateral, Rowexpr: f.Row.node, Docexpr: f.Document.node, Namespaces: targetNodes(f.Namespaces), Alias: aliasNode(f.Alias, f.Columns),
	}
	for _, c := range f.Defs {
		column := &pg_query.RangeTableFuncCol{
			Colname: c.Name, ForOrdinality: c.Ordinality, IsNotNull: c.NotNull, Colexpr: c.Path.node, Coldefexpr: c.Default.node,
		}
		if !c.Ordinality {
			column.TypeName = r.typeName(c.Type)
		}
		out.Columns = append(out.Columns, &pg_query.Node{Node: &pg_query.Node_RangeTableFuncCol{RangeTableFuncCol: column}})
	}
	return &pg_query.Node{Node: &pg_query.Node_RangeTableFunc{RangeTableFunc: out}}
}

func (r rebuilder) join(f *JoinRef) *pg_query.Node {
	kind := pg_query.JoinType_JOIN_INNER
	if f.Kind != Cross {
		kind = key(joinKinds, f.Kind)
	}
	j := &pg_query.JoinExpr{
		Jointype: kind, IsNatural: f.Natural, UsingClause: stringNodes(f.Using), JoinUsingAlias: aliasNode(f.UsingAlias, nil),
		Quals: f.On.node, Larg: r.from(f.Left), Rarg: r.from(f.Right), Alias: aliasNode(f.Alias, f.Columns),
	}
	return &pg_query.Node{Node: &pg_query.Node_JoinExpr{JoinExpr: j}}
}

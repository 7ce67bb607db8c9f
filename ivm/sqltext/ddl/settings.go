package ddl

import (
	pg_query "github.com/pganalyze/pg_query_go/v5"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// setVariable reads SET and RESET search_path.
func (r *reader) setVariable(n *pg_query.VariableSetStmt) {
	if n.Kind == pg_query.VariableSetKind_VAR_RESET_ALL {
		r.add(&SearchPath{place: r.at(0), Reset: true})
		return
	}
	if n.Name != "search_path" {
		return
	}
	r.add(&SearchPath{place: r.at(0), Reset: n.Kind != pg_query.VariableSetKind_VAR_SET_VALUE, Schemas: schemasOf(n)})
}

// schemasOf are those that SET search_path names.
func schemasOf(n *pg_query.VariableSetStmt) []string {
	var schemas []string
	for _, arg := range n.Args {
		if schema := constant(arg); schema != "" {
			schemas = append(schemas, schema)
		}
	}
	return schemas
}

// selectStatement reads the SELECTs that define something: set_config of search_path, SELECT INTO, and those by which Citus distributes a table.
func (r *reader) selectStatement(n *pg_query.SelectStmt) {
	if n.IntoClause != nil {
		name := r.rangeVar(n.IntoClause.Rel)
		r.add(&NotUnderstood{place: place(name.Pos), Name: name, Statement: "SELECT INTO"})
		return
	}
	for _, target := range n.TargetList {
		call := target.GetResTarget().GetVal().GetFuncCall()
		names := sqltext.Strings(call.GetFuncname())
		if len(names) == 0 {
			continue
		}
		switch name := names[len(names)-1]; {
		case name == "set_config" && len(call.Args) == 3 && constant(call.Args[0]) == "search_path":
			r.add(&SearchPath{place: r.at(0), Schemas: schemaList(constant(call.Args[1]))})
		case name == "create_distributed_table" || name == "create_distributed_table_concurrently" || name == "create_reference_table":
			r.distribute(call, name == "create_reference_table")
		}
	}
}

func (r *reader) createExtension(n *pg_query.CreateExtensionStmt) {
	e := &CreateExtension{place: r.at(0), Name: n.Extname}
	for _, node := range n.Options {
		if option := node.GetDefElem(); option.GetDefname() == "schema" {
			e.Schema = option.GetArg().GetString_().GetSval()
		}
	}
	r.add(e)
}

func constant(n *pg_query.Node) string { return n.GetAConst().GetSval().GetSval() }

// schemaList splits the value of search_path.
func schemaList(value string) []string {
	var schemas []string
	for _, t := range sqltext.Scan(value) {
		if name := identifier(value, t); name != "" {
			schemas = append(schemas, name)
		}
	}
	return schemas
}

package ddl

import (
	pg_query "github.com/pganalyze/pg_query_go/v5"
)

func (r *reader) alterTable(n *pg_query.AlterTableStmt) {
	if n.Objtype != pg_query.ObjectType_OBJECT_TABLE && n.Objtype != pg_query.ObjectType_OBJECT_FOREIGN_TABLE {
		return
	}
	table := r.rangeVar(n.Relation)
	of := AlterTable{place: place(table.Pos), Table: table, IfExists: n.MissingOk, Only: !n.Relation.Inh}
	for _, node := range n.Cmds {
		r.alterClause(of, node.GetAlterTableCmd())
	}
	for _, c := range r.newer.notNull {
		of.place = place(c.Column.Pos)
		r.add(&AlterColumn{AlterTable: of, Column: c.Column, Change: SetNotNull, NotNullAs: c.Name})
	}
}

// columnChanges are the clauses of ALTER COLUMN that have no argument that matters.
var columnChanges = map[pg_query.AlterTableType]ColumnChange{
	pg_query.AlterTableType_AT_SetNotNull:     SetNotNull,
	pg_query.AlterTableType_AT_DropNotNull:    DropNotNull,
	pg_query.AlterTableType_AT_AddIdentity:    AddIdentity,
	pg_query.AlterTableType_AT_DropIdentity:   DropIdentity,
	pg_query.AlterTableType_AT_DropExpression: DropExpression,
}

func (r *reader) alterClause(of AlterTable, n *pg_query.AlterTableCmd) {
	column := r.columnName(n.Name, r.afterName(of.Table))
	if change, ok := columnChanges[n.Subtype]; ok {
		of.place = place(column.Pos)
		r.add(&AlterColumn{AlterTable: of, Column: column, Change: change})
		return
	}
	switch n.Subtype {
	case pg_query.AlterTableType_AT_AddColumn:
		r.addColumn(of, n)
	case pg_query.AlterTableType_AT_DropColumn:
		of.place = place(column.Pos)
		r.add(&DropColumn{AlterTable: of, Column: column, IfColumnExists: n.MissingOk})
	case pg_query.AlterTableType_AT_AlterColumnType:
		of.place = place(column.Pos)
		to, _ := r.column(n.Def.GetColumnDef())
		r.add(&AlterColumn{AlterTable: of, Column: column, Change: SetType, Type: to.Type, Collation: to.Collation})
	case pg_query.AlterTableType_AT_ColumnDefault:
		r.addExpressions(of, []Expression{r.expression(n.Def, "DEFAULT", n.Name)})
	case pg_query.AlterTableType_AT_AddConstraint:
		r.addConstraint(of, n.Def.GetConstraint())
	case pg_query.AlterTableType_AT_DropConstraint:
		r.add(&DropKey{AlterTable: of, Name: n.Name})
	case pg_query.AlterTableType_AT_SetLogged, pg_query.AlterTableType_AT_SetUnLogged:
		r.add(&SetLogged{AlterTable: of, On: n.Subtype == pg_query.AlterTableType_AT_SetLogged})
	case pg_query.AlterTableType_AT_EnableRowSecurity, pg_query.AlterTableType_AT_DisableRowSecurity:
		r.add(&RowSecurity{AlterTable: of, On: n.Subtype == pg_query.AlterTableType_AT_EnableRowSecurity})
	default:
		r.alterParent(of, n)
	}
}

func (r *reader) addColumn(of AlterTable, n *pg_query.AlterTableCmd) {
	column, keys := r.column(n.Def.GetColumnDef())
	columns := []TableColumn{column}
	for _, at := range r.newer.virtual {
		if next := r.nextColumn(column.Pos - r.span.start); at < next {
			makeVirtual(columns, r.pos(at))
		}
	}
	of.place = place(column.Pos)
	r.add(&AddColumn{AlterTable: of, Column: columns[0], Keys: keys, IfNotExists: n.MissingOk})
	r.columnForeignKeys(of, n.Def.GetColumnDef())
	r.addExpressions(of, r.columnExpressions(n.Def.GetColumnDef()))
}

// nextColumn is the offset of the next word ADD after an offset in the statement, or its end.
func (r *reader) nextColumn(after int) int {
	for _, t := range r.scan() {
		if int(t.Start) > after && t.Token == pg_query.Token_ADD_P {
			return int(t.Start)
		}
	}
	return len(r.text)
}

func (r *reader) addConstraint(of AlterTable, n *pg_query.Constraint) {
	if key, ok := r.key(n); ok {
		of.place = place(key.Pos)
		r.add(&AddKey{AlterTable: of, Key: key})
	}
	r.foreignKey(of, n, nil)
	r.addExpressions(of, r.constraintExpressions(n, ""))
}

// alterParent reads the clauses that put a table below another one.
func (r *reader) alterParent(of AlterTable, n *pg_query.AlterTableCmd) {
	parent, part := of, of
	if command := n.Def.GetPartitionCmd(); command != nil {
		part.Table = r.rangeVar(command.Name)
		part.place = place(part.Table.Pos)
	}
	switch n.Subtype {
	case pg_query.AlterTableType_AT_AddInherit:
		r.add(&Attach{AlterTable: of, Parent: r.rangeVar(n.Def.GetRangeVar())})
	case pg_query.AlterTableType_AT_DropInherit:
		r.add(&Detach{AlterTable: of, Parent: r.rangeVar(n.Def.GetRangeVar())})
	case pg_query.AlterTableType_AT_AttachPartition:
		r.add(&Attach{AlterTable: part, Parent: parent.Table, Partition: true})
	case pg_query.AlterTableType_AT_DetachPartition, pg_query.AlterTableType_AT_DetachPartitionFinalize:
		r.add(&Detach{AlterTable: part, Parent: parent.Table})
	}
}

func (r *reader) rename(n *pg_query.RenameStmt) {
	switch n.RenameType {
	case pg_query.ObjectType_OBJECT_COLUMN:
		of := r.renamed(n)
		column := r.columnName(n.Subname, r.afterName(of.Table))
		of.place = place(column.Pos)
		r.add(&RenameColumn{AlterTable: of, Column: column, To: n.Newname})
	case pg_query.ObjectType_OBJECT_TABCONSTRAINT:
		r.add(&RenameKey{AlterTable: r.renamed(n), Name: n.Subname, To: n.Newname})
	default:
		r.move(n.RenameType, n.Relation, n.Object, ObjectName{Name: n.Newname})
	}
}

func (r *reader) renamed(n *pg_query.RenameStmt) AlterTable {
	table := r.rangeVar(n.Relation)
	return AlterTable{place: place(table.Pos), Table: table, IfExists: n.MissingOk, Only: !n.Relation.Inh}
}

func (r *reader) setSchema(n *pg_query.AlterObjectSchemaStmt) {
	r.move(n.ObjectType, n.Relation, n.Object, ObjectName{Schema: n.Newschema})
}

// objectKinds are the objects that are followed when they are renamed or dropped.
var objectKinds = map[pg_query.ObjectType]ObjectKind{
	pg_query.ObjectType_OBJECT_TABLE:         RelationObject,
	pg_query.ObjectType_OBJECT_FOREIGN_TABLE: RelationObject,
	pg_query.ObjectType_OBJECT_VIEW:          RelationObject,
	pg_query.ObjectType_OBJECT_MATVIEW:       RelationObject,
	pg_query.ObjectType_OBJECT_INDEX:         IndexObject,
	pg_query.ObjectType_OBJECT_TYPE:          TypeObject,
	pg_query.ObjectType_OBJECT_DOMAIN:        TypeObject,
	pg_query.ObjectType_OBJECT_FUNCTION:      RoutineObject,
	pg_query.ObjectType_OBJECT_PROCEDURE:     RoutineObject,
	pg_query.ObjectType_OBJECT_ROUTINE:       RoutineObject,
	pg_query.ObjectType_OBJECT_AGGREGATE:     RoutineObject,
	pg_query.ObjectType_OBJECT_OPERATOR:      OperatorObject,
	pg_query.ObjectType_OBJECT_SCHEMA:        SchemaObject,
}

// move adds a change of an object's name or schema.
func (r *reader) move(kind pg_query.ObjectType, relation *pg_query.RangeVar, object *pg_query.Node, to ObjectName) {
	k, ok := objectKinds[kind]
	if !ok || k == SchemaObject {
		return
	}
	what := r.signature(object)
	if relation != nil {
		what.ObjectName = r.rangeVar(relation)
	}
	r.add(&Rename{place: place(what.Pos), Kind: k, Object: what, To: to})
}

func (r *reader) drop(n *pg_query.DropStmt) {
	kind, ok := objectKinds[n.RemoveType]
	if !ok {
		return
	}
	for _, object := range n.Objects {
		what := r.signature(object)
		r.add(&Drop{place: place(what.Pos), Kind: kind, Object: what})
	}
}

// signature reads the node that names an object; nil is no object.
func (r *reader) signature(node *pg_query.Node) Signature {
	switch n := node.GetNode().(type) {
	case *pg_query.Node_List:
		return Signature{ObjectName: r.objectName(n.List.Items)}
	case *pg_query.Node_TypeName:
		return Signature{ObjectName: r.objectName(n.TypeName.Names)}
	case *pg_query.Node_String_:
		return Signature{ObjectName: r.objectName([]*pg_query.Node{node})}
	case *pg_query.Node_ObjectWithArgs:
		return r.withArgs(n.ObjectWithArgs)
	}
	return Signature{}
}

func (r *reader) withArgs(n *pg_query.ObjectWithArgs) Signature {
	s := Signature{ObjectName: r.objectName(n.Objname), AnyArgs: n.ArgsUnspecified}
	for _, arg := range n.Objargs {
		s.Args = append(s.Args, r.typeName(arg.GetTypeName()))
	}
	return s
}

package ddl

import pg_query "github.com/pganalyze/pg_query_go/v5"

// Names says which columns a foreign key or an index names: they have to exist.
type Names struct {
	AlterTable
	Columns    []ColumnName
	References ObjectName   // the table that a foreign key references; zero of an index
	Referenced []ColumnName // its columns; none: its primary key
}

// foreignKeys reads the foreign keys of CREATE TABLE.
func (r *reader) foreignKeys(n *pg_query.CreateStmt) {
	table := r.rangeVar(n.Relation)
	of := AlterTable{place: place(table.Pos), Table: table}
	for _, element := range n.TableElts {
		if column := element.GetColumnDef(); column != nil {
			r.columnForeignKeys(of, column)
		}
		r.foreignKey(of, element.GetConstraint(), nil)
	}
}

// columnForeignKeys reads the foreign keys that stand at a column.
func (r *reader) columnForeignKeys(of AlterTable, column *pg_query.ColumnDef) {
	for _, constraint := range column.Constraints {
		r.foreignKey(of, constraint.GetConstraint(), []ColumnName{{r.pos(int(column.Location)), column.Colname}})
	}
}

// foreignKey reads a constraint if it is a foreign key. Columns are those of the column at which it stands.
func (r *reader) foreignKey(of AlterTable, n *pg_query.Constraint, columns []ColumnName) {
	if n.GetContype() != pg_query.ConstrType_CONSTR_FOREIGN {
		return
	}
	if columns == nil {
		columns = r.columnNames(n.FkAttrs, int(n.Location))
	}
	referenced := r.rangeVar(n.Pktable)
	of.place = place(r.pos(int(n.Location)))
	r.add(&Names{AlterTable: of, Columns: columns, References: referenced, Referenced: r.columnNames(n.PkAttrs, r.afterName(referenced))})
}

// indexed are the columns among the keys of an index.
func (r *reader) indexed(table ObjectName, params []*pg_query.Node) []ColumnName {
	var columns []ColumnName
	for _, param := range params {
		if name := param.GetIndexElem().GetName(); name != "" {
			columns = append(columns, r.columnName(name, r.afterName(table)))
		}
	}
	return columns
}

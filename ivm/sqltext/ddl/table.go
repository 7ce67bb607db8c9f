package ddl

import (
	pg_query "github.com/pganalyze/pg_query_go/v5"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

func (r *reader) createTable(n *pg_query.CreateStmt) *CreateTable {
	t := &CreateTable{
		Name:        r.rangeVar(n.Relation),
		IfNotExists: n.IfNotExists,
		Temporary:   n.Relation.Relpersistence == "t",
		Unlogged:    n.Relation.Relpersistence == "u",
		Partitioned: n.Partspec != nil,
		Partition:   n.Partbound != nil,
		Of:          r.typeName(n.OfTypename),
	}
	t.place = place(t.Name.Pos)
	for _, parent := range n.InhRelations {
		t.Parents = append(t.Parents, r.rangeVar(parent.GetRangeVar()))
	}
	for _, element := range n.TableElts {
		r.tableElement(t, element)
	}
	t.NotNull = r.newer.notNull
	for _, at := range r.newer.virtual {
		makeVirtual(t.Columns, r.pos(at))
	}
	return t
}

func (r *reader) tableElement(t *CreateTable, element *pg_query.Node) {
	switch e := element.Node.(type) {
	case *pg_query.Node_ColumnDef:
		column, keys := r.column(e.ColumnDef)
		t.Columns = append(t.Columns, column)
		t.Keys = append(t.Keys, keys...)
	case *pg_query.Node_Constraint:
		if key, ok := r.key(e.Constraint); ok {
			t.Keys = append(t.Keys, key)
		}
	case *pg_query.Node_TableLikeClause:
		t.Likes = append(t.Likes, r.like(e.TableLikeClause, len(t.Columns)))
	}
}

// What LIKE copies, as PostgreSQL numbers it.
const (
	likeGenerated = 1 << 4
	likeIdentity  = 1 << 5
	likeIndexes   = 1 << 6
)

func (r *reader) like(n *pg_query.TableLikeClause, before int) Like {
	return Like{
		Source:    r.rangeVar(n.Relation),
		Before:    before,
		Generated: n.Options&likeGenerated != 0,
		Identity:  n.Options&likeIdentity != 0,
		Keys:      n.Options&likeIndexes != 0,
	}
}

func (r *reader) createForeignTable(n *pg_query.CreateForeignTableStmt) {
	t := r.createTable(n.BaseStmt)
	t.Foreign = true
	r.add(t)
}

func (r *reader) createTableAs(n *pg_query.CreateTableAsStmt) {
	name := r.rangeVar(n.Into.Rel)
	if n.Objtype == pg_query.ObjectType_OBJECT_MATVIEW {
		r.addView(&CreateView{
			place:        place(name.Pos),
			Name:         name,
			Columns:      sqltext.Strings(n.Into.ColNames),
			Materialized: true,
			IfNotExists:  n.IfNotExists,
		})
		return
	}
	r.add(&NotUnderstood{place: place(name.Pos), Name: name, Statement: "CREATE TABLE AS"})
}

// serials are the names that stand for an integer type with a sequence.
var serials = map[string]string{
	"serial": "int4", "serial4": "int4", "bigserial": "int8", "serial8": "int8", "smallserial": "int2", "serial2": "int2",
}

// column reads a column and the keys that stand at it.
func (r *reader) column(n *pg_query.ColumnDef) (TableColumn, []TableKey) {
	c := TableColumn{Pos: r.pos(int(n.Location)), Name: n.Colname, Type: r.typeName(n.TypeName), Collation: r.collation(n.CollClause)}
	if integer, ok := serials[c.Type.Name]; ok && c.Type.Schema == "" && !c.Type.Array {
		c.Type.Name = integer
		c.NotNull = true
	}
	return c, r.columnConstraints(&c, n.Constraints)
}

func (r *reader) columnConstraints(c *TableColumn, constraints []*pg_query.Node) []TableKey {
	var keys []TableKey
	for _, node := range constraints {
		n := node.GetConstraint()
		switch n.GetContype() {
		case pg_query.ConstrType_CONSTR_NOTNULL:
			c.NotNull, c.NotNullAs = true, n.Conname
		case pg_query.ConstrType_CONSTR_IDENTITY:
			c.Identity, c.NotNull = true, true
		case pg_query.ConstrType_CONSTR_GENERATED:
			c.Generated = true
		case pg_query.ConstrType_CONSTR_ATTR_DEFERRABLE:
			if len(keys) > 0 {
				keys[len(keys)-1].Deferrable = true
			}
		default:
			if key, ok := r.key(n); ok {
				key.Columns = []ColumnName{{c.Pos, c.Name}}
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// key reads a constraint that is a key.
func (r *reader) key(n *pg_query.Constraint) (TableKey, bool) {
	primary := n.GetContype() == pg_query.ConstrType_CONSTR_PRIMARY
	if !primary && n.GetContype() != pg_query.ConstrType_CONSTR_UNIQUE {
		return TableKey{}, false
	}
	return TableKey{
		Pos:        r.pos(int(n.Location)),
		Name:       n.Conname,
		Columns:    r.columnNames(n.Keys, int(n.Location)),
		Primary:    primary,
		Deferrable: n.Deferrable,
		Constraint: true,
		Index:      n.Indexname,
	}, true
}

func (r *reader) collation(n *pg_query.CollateClause) ObjectName {
	if n == nil {
		return ObjectName{}
	}
	name := r.objectName(n.Collname)
	name.Pos = r.pos(int(n.Location))
	return name
}

// makeVirtual marks the column whose definition holds a place in the script.
func makeVirtual(columns []TableColumn, pos int) {
	for i := len(columns) - 1; i >= 0; i-- {
		if columns[i].Pos < pos {
			columns[i].Generated, columns[i].Virtual = true, true
			return
		}
	}
}

// createIndex adds an index by which rows are found as a key; a unique one without expressions and equality of its own is one indeed. Of the other
// columns it says that they have to exist.
func (r *reader) createIndex(n *pg_query.IndexStmt) {
	columns := n.IndexParams
	for i, param := range columns {
		if e := param.GetIndexElem(); e.Name == "" || len(e.Collation) > 0 || len(e.Opclass) > 0 {
			columns = columns[:i]
			break
		}
	}
	if n.WhereClause != nil || n.AccessMethod != "btree" && n.AccessMethod != "hash" {
		columns = nil
	}
	table := r.rangeVar(n.Relation)
	if len(columns) > 0 {
		r.add(&AddKey{
			AlterTable: AlterTable{place: place(table.Pos), Table: table, Only: !n.Relation.Inh},
			Key: TableKey{
				Pos: table.Pos, Name: n.Idxname, Columns: r.indexed(table, columns), Hash: n.AccessMethod == "hash", Plain: !n.Unique || len(columns) < len(n.IndexParams),
			},
			IfNotExists: n.IfNotExists,
		})
	}
	if others := r.indexed(table, append(n.IndexParams[len(columns):], n.IndexIncludingParams...)); len(others) > 0 {
		r.add(&Names{AlterTable: AlterTable{place: place(table.Pos), Table: table}, Columns: others})
	}
}

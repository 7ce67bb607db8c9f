package ddl

import (
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Definition is what one statement, or one clause of an ALTER TABLE, says about a relation, a type, a routine or the search path.
type Definition interface {
	At() int // byte offset into the script
	definition()
}

// place is the offset of a definition.
type place int

// At returns the byte offset into the script.
func (p place) At() int { return int(p) }

func (place) definition() {}

// ObjectName is the name of an object, unquoted. Schema is empty where the script leaves it out.
type ObjectName struct {
	Pos          int
	Schema, Name string
}

// ColumnName is a column where a statement names it.
type ColumnName struct {
	Pos  int
	Name string
}

// SearchPath is SET search_path or RESET search_path.
type SearchPath struct {
	place
	Schemas []string
	Reset   bool // to what it was before the script
}

// SchemaElements says that the definitions up to the next SchemaElements, whose Schema is empty, stand in CREATE SCHEMA.
type SchemaElements struct {
	place
	Schema string
}

// NotUnderstood is a statement that makes a relation whose columns cannot be read from it.
type NotUnderstood struct {
	place
	Name      ObjectName
	Statement string // CREATE TABLE AS, for example; empty if the statement is reported as a syntax error
}

// CreateTable is CREATE TABLE or CREATE FOREIGN TABLE.
type CreateTable struct {
	place
	Name        ObjectName
	IfNotExists bool
	Foreign     bool
	Temporary   bool
	Unlogged    bool // a crash empties it
	Partitioned bool
	Columns     []TableColumn
	Likes       []Like
	Keys        []TableKey
	NotNull     []NotNull    // constraints that stand apart from their column
	Parents     []ObjectName // of INHERITS, or the one of PARTITION OF
	Partition   bool         // the parent is what this is a partition of
	Of          sqltext.Type // the type of a typed table
}

// TableColumn is a column in CREATE TABLE, in ADD COLUMN or of a composite type. Its type is zero if the column comes from elsewhere and
// only options are given to it.
type TableColumn struct {
	Pos       int
	Name      string
	Type      sqltext.Type
	Collation ObjectName
	NotNull   bool
	NotNullAs string // the name of the constraint, if it has one
	Identity  bool
	Generated bool
	Virtual   bool // generated when it is read
}

// NotNull is a NOT NULL constraint that stands apart from its column, or is added to it later.
type NotNull struct {
	Name   string // empty if PostgreSQL chooses it
	Column ColumnName
}

// Like is LIKE in CREATE TABLE.
type Like struct {
	Source    ObjectName
	Before    int // how many columns of the table stand before it
	Identity  bool
	Generated bool
	Keys      bool
}

// TableKey is a primary key, a unique constraint or an index whose first keys are columns.
type TableKey struct {
	Pos        int
	Name       string // empty if PostgreSQL chooses it
	Columns    []ColumnName
	Primary    bool
	Deferrable bool
	Constraint bool   // a constraint rather than an index
	Index      string // the unique index that becomes the constraint
	Hash       bool   // an index of hashes
	Plain      bool   // an index that finds rows by these columns, and is not unique in them
}

// CreateView is CREATE VIEW or CREATE MATERIALIZED VIEW.
type CreateView struct {
	place
	Name         ObjectName
	Columns      []string // names that the view's own list gives
	Query        string
	QueryAt      int // offset of Query in the script
	Materialized bool
	Temporary    bool
	Replace      bool
	IfNotExists  bool
}

// AlterTable is what the clauses of ALTER TABLE have in common.
type AlterTable struct {
	place
	Table    ObjectName
	IfExists bool // of the table
	Only     bool // without the tables below it
}

// AddColumn is ADD COLUMN with the keys that stand at the column.
type AddColumn struct {
	AlterTable
	Column      TableColumn
	Keys        []TableKey
	IfNotExists bool
}

// DropColumn is DROP COLUMN.
type DropColumn struct {
	AlterTable
	Column         ColumnName
	IfColumnExists bool
}

// RenameColumn is RENAME COLUMN.
type RenameColumn struct {
	AlterTable
	Column ColumnName
	To     string
}

// AlterColumn is ALTER COLUMN, as far as it changes what a reader sees.
type AlterColumn struct {
	AlterTable
	Column    ColumnName
	Change    ColumnChange
	Type      sqltext.Type // of SetType
	Collation ObjectName   // of SetType
	NotNullAs string       // of SetNotNull, the name of the constraint, if it has one
}

// ColumnChange is what ALTER COLUMN changes.
type ColumnChange int

// The changes of a column.
const (
	SetType ColumnChange = iota
	SetNotNull
	DropNotNull
	AddIdentity
	DropIdentity
	DropExpression
)

// AddKey is ADD CONSTRAINT of a key, or CREATE UNIQUE INDEX without predicate and expressions.
type AddKey struct {
	AlterTable
	Key         TableKey
	IfNotExists bool
}

// DropKey is DROP CONSTRAINT; the constraint need not be a key.
type DropKey struct {
	AlterTable
	Name string
}

// RenameKey is RENAME CONSTRAINT; the constraint need not be a key.
type RenameKey struct {
	AlterTable
	Name, To string
}

// SetLogged is SET LOGGED or SET UNLOGGED.
type SetLogged struct {
	AlterTable
	On bool
}

// RowSecurity is ENABLE or DISABLE ROW LEVEL SECURITY.
type RowSecurity struct {
	AlterTable
	On bool
}

// Attach is INHERIT, or ATTACH PARTITION with the partition as its table.
type Attach struct {
	AlterTable
	Parent    ObjectName
	Partition bool
}

// Detach is NO INHERIT, or DETACH PARTITION with the partition as its table.
type Detach struct {
	AlterTable
	Parent ObjectName
}

// Rename is RENAME TO or SET SCHEMA of an object; the part that stays is empty in To.
type Rename struct {
	place
	Kind   ObjectKind
	Object Signature
	To     ObjectName
}

// Drop is DROP of one object.
type Drop struct {
	place
	Kind   ObjectKind
	Object Signature
}

// CommentOnView is COMMENT ON VIEW.
type CommentOnView struct {
	place
	View ObjectName
	Text string
}

// ObjectKind is the name space of an object.
type ObjectKind int

// The kinds of objects that are renamed and dropped.
const (
	RelationObject ObjectKind = iota
	IndexObject
	TypeObject
	RoutineObject
	OperatorObject
	SchemaObject
)

package sqltext

import pg_query "github.com/pganalyze/pg_query_go/v5"

// From is one item of a FROM clause.
type From interface {
	At() int
	from()
}

// TableRef is a table, view or CTE by name.
type TableRef struct {
	Pos          int
	Schema, Name string
	Alias        string
	Columns      []string
	Only         bool
	Sample       *Sample
}

// Sample is a TABLESAMPLE clause.
type Sample struct {
	Pos            int
	Schema, Method string
	Args           []Expr
	Repeatable     Expr
}

// SubqueryRef is a query in FROM.
type SubqueryRef struct {
	Pos     int
	Query   Query
	Lateral bool
	Alias   string
	Columns []string
}

// FunctionRef is one function in FROM, or several in ROWS FROM.
type FunctionRef struct {
	Pos        int
	Functions  []Function
	Lateral    bool
	Ordinality bool
	RowsFrom   bool
	Alias      string
	Columns    []string
	Defs       []ColumnDef // AS (a int, …) of the whole item
}

// Function is one function of a FunctionRef.
type Function struct {
	Call Expr
	Defs []ColumnDef // AS (a int, …) within ROWS FROM
}

// ColumnDef is one column of a column definition list.
type ColumnDef struct {
	Pos       int
	Name      string
	Type      string // SQL
	Named     Type   // the same as a name
	Collation string // SQL, or ""
}

// XMLTableRef is an XMLTABLE in FROM.
type XMLTableRef struct {
	Pos        int
	Lateral    bool
	Namespaces []Target // the default one has no alias
	Row        Expr
	Document   Expr
	Defs       []XMLColumn
	Alias      string
	Columns    []string

	node *pg_query.RangeTableFunc
}

// XMLColumn is one column of an XMLTABLE.
type XMLColumn struct {
	Pos           int
	Name          string
	Type          string // SQL, "" for ordinality
	Named         Type   // the same as a name
	Ordinality    bool
	NotNull       bool
	Path, Default Expr
}

// JoinRef is a join in FROM.
type JoinRef struct {
	Pos         int
	Kind        JoinKind
	Natural     bool
	Using       []string
	UsingAlias  string
	On          Expr
	Left, Right From
	Alias       string
	Columns     []string
}

// JoinKind says which join.
type JoinKind string

// The joins. Cross is an inner join without any condition.
const (
	Inner JoinKind = "inner"
	Left  JoinKind = "left"
	Right JoinKind = "right"
	Full  JoinKind = "full"
	Cross JoinKind = "cross"
)

// At returns the position of the table's name.
func (f *TableRef) At() int { return f.Pos }

// At returns a position within the query.
func (f *SubqueryRef) At() int { return f.Pos }

// At returns the position of the first function.
func (f *FunctionRef) At() int { return f.Pos }

// At returns the position of XMLTABLE.
func (f *XMLTableRef) At() int { return f.Pos }

// At returns the position of the left input.
func (f *JoinRef) At() int { return f.Pos }

func (f *TableRef) from()    {}
func (f *SubqueryRef) from() {}
func (f *FunctionRef) from() {}
func (f *XMLTableRef) from() {}
func (f *JoinRef) from()     {}

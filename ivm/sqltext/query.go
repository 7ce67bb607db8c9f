package sqltext

// Query is one SELECT, VALUES or set operation: its clauses apart, its scalar expressions opaque. Positions are offsets in bytes of the text
// that was parsed, and -1 where the parser gives none. Nothing of the text is lost but what says nothing: ALL after SELECT, ASC, LIMIT ALL.
type Query interface {
	// At returns the first position within the query that the parser knows, which is that of WITH or of what follows SELECT.
	At() int
	sealed()
}

// Select is one SELECT.
type Select struct {
	Pos           int
	With          []CTE
	Recursive     bool
	Distinct      bool   // DISTINCT, without ON
	DistinctOn    []Expr // DISTINCT ON
	Targets       []Target
	From          []From // separated by commas
	Where         Expr
	Group         []Grouping
	GroupDistinct bool // GROUP BY DISTINCT
	Having        Expr
	Windows       []Window // the WINDOW clause
	Tail
}

// Values is one VALUES list.
type Values struct {
	Pos       int
	With      []CTE
	Recursive bool
	Rows      [][]Expr
	Tail
}

// SetOp is UNION, INTERSECT or EXCEPT of two queries.
type SetOp struct {
	Pos         int
	With        []CTE
	Recursive   bool
	Kind        SetKind
	All         bool
	Left, Right Query
	Tail
}

// SetKind says which set operation.
type SetKind string

// The set operations.
const (
	Union     SetKind = "union"
	Intersect SetKind = "intersect"
	Except    SetKind = "except"
)

// Tail is what may follow any kind of query.
type Tail struct {
	Order         []SortItem
	Limit, Offset Expr
	WithTies      bool // FETCH FIRST … WITH TIES; Limit is set
	Locks         []Lock

	unprintable *Error // of the outermost query
}

// Lock is one FOR UPDATE or the like. The parser gives it no position.
type Lock struct {
	Strength string   // update, no key update, share, key share
	Of       []string // aliases; none: all
	Wait     string   // "", nowait, skip locked
}

// CTE is one query of a WITH clause.
type CTE struct {
	Pos          int
	Name         string
	Columns      []string
	Query        Query
	Materialized Materialized
	Search       *Search
	Cycle        *Cycle
}

// Materialized is what a CTE says of its materialization.
type Materialized string

// What a CTE may say; without a word the planner decides.
const (
	PlannerDecides  Materialized = ""
	AsMaterialized  Materialized = "materialized"
	NotMaterialized Materialized = "not materialized"
)

// Search is the SEARCH clause of a recursive CTE.
type Search struct {
	Pos          int
	BreadthFirst bool
	Columns      []string
	Sequence     string // the column that it adds
}

// Cycle is the CYCLE clause of a recursive CTE.
type Cycle struct {
	Pos            int
	Columns        []string
	Mark           string // the column that it adds
	Value, Default Expr   // of the mark
	Path           string // the column that it adds
}

// Target is one item of a select list.
type Target struct {
	Pos   int
	Alias string // "" if there is none; see FigureName
	Expr  Expr
}

// Grouping is one item of GROUP BY.
type Grouping struct {
	Pos   int
	Kind  GroupingKind
	Exprs []Expr     // of Plain: one expression, or the several of (a, b), which form one unit inside the other kinds
	Sets  []Grouping // of Rollup, Cube and Sets
}

// GroupingKind says what an item of GROUP BY is.
type GroupingKind string

// The items of GROUP BY.
const (
	Plain  GroupingKind = "plain"
	Empty  GroupingKind = "empty" // ()
	Rollup GroupingKind = "rollup"
	Cube   GroupingKind = "cube"
	Sets   GroupingKind = "grouping sets"
)

// At returns the position of the query.
func (q *Select) At() int { return q.Pos }

// At returns the position of the query.
func (q *Values) At() int { return q.Pos }

// At returns the position of the query.
func (q *SetOp) At() int { return q.Pos }

func (q *Select) sealed() {}
func (q *Values) sealed() {}
func (q *SetOp) sealed()  {}

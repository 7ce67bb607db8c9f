// Package resolve binds the names of a query to columns and turns it into an
// algebra tree. There is a file per clause; each takes the scope that the
// clause sees.
package resolve

import (
	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Result is what a query came to.
type Result struct {
	// Root makes the query's rows; nil if the query can only be recomputed.
	Root    algebra.Node
	Output  []Output
	Sources []*catalog.Relation             // the tables that the query reads, views expanded, each once
	Rows    []*catalog.Relation             // those of which it reads whole rows
	Views   []*catalog.Relation             // the views that were expanded, each once
	Through map[*catalog.Relation]Reference // of Sources: the view in the query by which a table is read first
	Limit   diag.Pos                        // of the last LIMIT or OFFSET
	// Full says why the query can only be recomputed: empty if it need not be.
	Full []Reason
	// Open is the place of a star that stands for columns which only the server knows, so that Output lacks some; nil if all are known.
	Open *diag.Pos
	// Moment is the place of what reads the moment of the refresh first; nil if nothing does.
	Moment *diag.Pos
	// LooksUp reports that names are looked up while the query runs, along the search path.
	LooksUp bool
}

// Output is a column of the query's result.
type Output struct {
	Name string
	ID   algebra.ColID
	Pos  diag.Pos // of the item of the select list that it comes from
	Type string   // by PostgreSQL's rules, without lengths; empty where only the server knows
}

// Reference is a view in the text of the query.
type Reference struct {
	View *catalog.Relation
	Pos  diag.Pos
}

// Reason is a part of a query that nothing but recomputing follows.
type Reason struct {
	Pos  diag.Pos
	What string // such as "window function"
	Hint string // what to write instead; may be empty

	Calls bool // a function that is written like a column, which the text does not show
}

// Instead is what to write instead.
func (r Reason) Instead() string {
	if r.Hint != "" {
		return r.Hint
	}
	return "if recomputing is too slow, leave it to a view over a stream table of the rest"
}

// Query resolves a parsed query; pos describes where an offset in its text is. Problems go to errs.
func Query(q sqltext.Query, text string, pos func(offset int) diag.Pos, c *catalog.Catalog, columns *algebra.Columns, errs *diag.List) Result {
	begin := func(found *diag.List) *resolver { return newResolver(text, pos, c, columns, found) }
	return *repeated(errs, begin, func(r *resolver) { r.resolve(q) }).result
}

// repeated resolves until it is known which whole rows are read, and which aggregates belong to queries around the ones in which they stand: what stands before
// them depends on it.
func repeated(errs *diag.List, begin func(*diag.List) *resolver, resolve func(*resolver)) *resolver {
	wanted := map[place]bool{}
	for {
		found, known := &diag.List{}, len(wanted)
		r := begin(found)
		r.wanted = wanted
		resolve(r)
		if len(wanted) == known {
			errs.Merge(found)
			return r
		}
	}
}

func (r *resolver) resolve(q sqltext.Query) {
	r.checkPrint(q)
	rel := r.query(q, nil)
	r.result.Output, r.result.Open = rel.outputs(), rel.open
	for i := range r.result.Output {
		r.result.Output[i].Type = r.checker().Column(int(rel.ids[i]))
		if r.paths[rel.ids[i]] {
			r.result.Output[i].Type = ""
			r.result.Full = append(r.result.Full, Reason{Pos: rel.at[i], What: pathsReason + " whose path is read otherwise than as a text", Hint: pathsHint})
		}
	}
	if rel.open != nil && len(r.result.Full) == 0 && r.errs.Empty() {
		r.result.Full = append(r.result.Full, Reason{Pos: *rel.open, What: "columns that only the server knows", Hint: "name the columns"})
	}
	r.result.Root = r.withoutRows(rel.node)
	if len(r.result.Full) > 0 {
		r.result.Root = nil
	}
}

func newResolver(text string, pos func(offset int) diag.Pos, c *catalog.Catalog, columns *algebra.Columns, errs *diag.List) *resolver {
	r := &resolver{
		catalog: c, columns: columns, errs: errs, result: &Result{Through: map[*catalog.Relation]Reference{}}, text: text, pos: pos,
		types: map[algebra.ColID]string{}, subqueries: map[any][]string{},
		origin: map[algebra.ColID]origin{}, shapes: map[algebra.ColID]func() catalog.Shape{}, sizes: map[algebra.ColID]size{}, rows: map[algebra.ColID]rowColumn{}, wanted: map[place]bool{}, wholes: map[algebra.ColID]madeRow{}, paths: map[algebra.ColID]bool{}, resolved: new(int),
	}
	columns.SetTypes(func(e sqltext.Expr) string { return r.typeOf(algebra.Scalar{Expr: e}) }, c.BaseType)
	return r
}

// resolver works on one text: the query's, or that of a view in it.
type resolver struct {
	catalog *catalog.Catalog
	columns *algebra.Columns
	errs    *diag.List
	result  *Result
	types   map[algebra.ColID]string               // of computed columns, by PostgreSQL's rules
	origin  map[algebra.ColID]origin               // of columns of tables
	shapes  map[algebra.ColID]func() catalog.Shape // of computed columns, found out when they are asked for

	subqueries map[any][]string       // types of the columns of subqueries in expressions, by their ids
	sizes      map[algebra.ColID]size // of computed columns
	rows       map[algebra.ColID]rowColumn
	wanted     map[place]bool // where a column has the whole row of a table, and what belongs to another query than it stands in
	reading    *argumentReads // what the arguments of an aggregate are found to read; nil outside of these
	wholes     map[algebra.ColID]madeRow
	paths      map[algebra.ColID]bool // of SEARCH and CYCLE
	resolved   *int                   // how many queries were resolved

	text  string
	pos   func(offset int) diag.Pos
	path  []string            // along which a view looks names up; nil: the catalog's
	views []*catalog.Relation // that are being expanded, outermost first
	seen  diag.Pos            // where the outermost of these stands in the query
}

// full notes that the query can only be recomputed.
func (r *resolver) full(at int, what, hint string) {
	r.result.Full = append(r.result.Full, Reason{Pos: r.pos(at), What: what, Hint: hint})
}

// apart is a resolver whose reads and reasons go nowhere; problems are reported.
func (r *resolver) apart() *resolver {
	apart := *r
	apart.result = &Result{Through: map[*catalog.Relation]Reference{}}
	return &apart
}

// silent is a resolver that reports no problems.
func (r *resolver) silent() *resolver {
	silent := *r
	silent.errs = &diag.List{}
	return &silent
}

// checkPrint notes an expression of a query that no SQL can be made of.
func (r *resolver) checkPrint(q sqltext.Query) {
	if problem := sqltext.Unprintable(q); problem != nil {
		r.full(problem.Offset, problem.Message, "")
	}
}

func (r *resolver) reads(table *catalog.Relation) {
	for _, known := range r.result.Sources {
		if known == table {
			return
		}
	}
	r.result.Sources = append(r.result.Sources, table)
	if len(r.views) > 0 {
		r.result.Through[table] = Reference{r.views[0], r.seen}
	}
}

// relation is a node and the names of its columns.
type relation struct {
	node  algebra.Node
	names []string
	ids   []algebra.ColID
	at    []diag.Pos // where each comes from
	open  *diag.Pos  // of a star that stands for columns which are not known besides; nil if all are known
	order *ordering  // in which its rows come
}

func (rel relation) outputs() []Output {
	out := make([]Output, len(rel.ids))
	for i, id := range rel.ids {
		out[i] = Output{Name: rel.names[i], ID: id, Pos: rel.at[i]}
	}
	return out
}

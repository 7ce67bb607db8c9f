package resolve

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// An aggregate belongs to the innermost query of which its arguments read a column, or to the query in which it stands if they read none. In a subquery it may so
// belong to a query around: it is an aggregate of that query then, and the subquery reads its value as an outer column. GROUPING is treated alike.

// level is a query as far as aggregates belong to it. The scopes of its FROM clause and copies of its scope share it.
type level struct {
	scope      *scope
	at         place            // of its SELECT
	clause     string           // the clause that is being bound, if no aggregate of this query may stand in it
	aggregates []outerAggregate // that stand in its subqueries
}

// outerAggregate is an aggregate that stands in a subquery, as a column of the query to which it belongs.
type outerAggregate struct {
	id   algebra.ColID
	call algebra.Scalar // over the rows of that query
}

// Forms of places: of an aggregate that belongs to a query around, and of a SELECT to which such aggregates belong.
const (
	outerCall  = "outer aggregate"
	outerOwner = "groups"
)

// fromClause is the clause of LATERAL subqueries.
const fromClause = "FROM clause of their own query level"

// inClause notes the clause that is being bound, until the function that it returns is called.
func (s *scope) inClause(clause string) func() {
	if s == nil || s.level == nil {
		return func() {}
	}
	l, before := s.level, s.level.clause
	l.clause = clause
	return func() { l.clause = before }
}

// levels are those of the query of a scope and of the queries around, innermost first.
func (s *scope) levels() (all []*level) {
	for ; s != nil; s = s.outer {
		if s.level != nil && !slices.Contains(all, s.level) {
			all = append(all, s.level)
		}
	}
	return all
}

// levelOf is the level of which a column is.
func (s *scope) levelOf(id algebra.ColID) *level {
	for ; s != nil; s = s.outer {
		if s.owns(id) {
			return s.level
		}
	}
	return nil
}

// argumentReads is what arguments of an aggregate read of the query in which it stands and of those around. Columns and aggregates of queries within the
// arguments do not count.
type argumentReads struct {
	levels    []*level // innermost first
	column    int      // the innermost level of which a column is read; len(levels): of none
	aggregate int      // the innermost level to which an aggregate in the arguments belongs
	at        int      // of this aggregate
	ctes      []*cteScope
	around    *argumentReads // of the aggregate in whose arguments this one stands
}

// noteColumn notes that a column of a level is read.
func (a *argumentReads) noteColumn(l *level) {
	for ; a != nil; a = a.around {
		if n := slices.Index(a.levels, l); n >= 0 {
			a.column = min(a.column, n)
		}
	}
}

// noteAggregate notes an aggregate that belongs to a level.
func (a *argumentReads) noteAggregate(l *level, at int) {
	for ; a != nil; a = a.around {
		if n := slices.Index(a.levels, l); n >= 0 && n < a.aggregate {
			a.aggregate, a.at = n, at
		}
	}
}

// noteCTE notes that a WITH query is read.
func (a *argumentReads) noteCTE(cte *cteScope) {
	for ; a != nil; a = a.around {
		a.ctes = append(a.ctes, cte)
	}
}

// readsOf finds what arguments of an aggregate read.
func (r *resolver) readsOf(s *scope, args ...sqltext.Expr) *argumentReads {
	found := &argumentReads{levels: s.levels(), around: r.reading}
	found.column, found.aggregate = len(found.levels), len(found.levels)
	quiet := r.apart().silent()
	quiet.reading = found
	for _, arg := range args {
		if arg.IsZero() {
			continue
		}
		for _, id := range quiet.bind(arg, s, s.level.clause).Columns() { // those that were bound before among them
			found.noteColumn(s.levelOf(id))
		}
	}
	return found
}

// outerAggregate is the column that an aggregate of a query around s is there. It is false for an aggregate of the query of s, and for other expressions.
func (r *resolver) outerAggregate(e sqltext.Expr, s *scope) (sqltext.Expr, bool) {
	call, isCall := e.Call()
	if isCall = isCall && r.isAggregate(call); !isCall && !e.IsGrouping() || s.level == nil {
		return sqltext.Expr{}, false
	}
	direct, args := argumentsOf(e, call)
	if s.outer == nil && !slices.ContainsFunc(slices.Concat(direct, args, []sqltext.Expr{call.Filter}), hasSubquery) {
		return sqltext.Expr{}, false
	}
	read, filter, first := r.readsOf(s, args...), r.readsOf(s, call.Filter), r.readsOf(s, direct...)
	n := min(read.column, read.aggregate, filter.column, filter.aggregate)
	if n == len(read.levels) {
		n = 0
	}
	of := read.levels[n]
	r.reading.noteAggregate(of, max(0, e.At()))
	ok := r.checkArguments(e, n, read, filter, first)
	for _, cte := range slices.Concat(read.ctes, filter.ctes, first.ctes) {
		if s.ctes.has(cte) && !of.scope.ctes.has(cte) {
			r.errs.Add(nestedCTE(r.pos(max(0, e.At())), cte.with.Name))
			ok = false
		}
	}
	switch {
	case n == 0:
		return sqltext.Expr{}, false
	case ok && of.clause != "" && !s.knowsAny():
		r.errs.Add(misplaced(r.pos(max(0, e.At())), e, of.clause))
		return e, true
	case !ok || of.clause != "":
		return e, true
	}
	r.wanted[r.placeOf(e, outerCall)] = true
	r.wanted[of.at] = true
	return e.Bound(int(r.columnOfAggregate(e, call, of))), true
}

// checkArguments refuses what the arguments of an aggregate that belongs to level n cannot read: for each row of a group, no aggregate of the groups is known.
func (r *resolver) checkArguments(e sqltext.Expr, n int, args, filter, direct *argumentReads) bool {
	switch {
	case filter.aggregate == 0:
		r.errs.Add(misplacedAggregate(r.pos(filter.at), "FILTER"))
	case args.aggregate == n:
		r.errs.Add(nestedAggregate(r.pos(args.at)))
	case filter.aggregate == n:
		r.errs.Add(nestedAggregate(r.pos(filter.at)))
	case direct.aggregate <= n:
		r.errs.Add(nestedAggregate(r.pos(direct.at)))
	case direct.column < n:
		r.errs.Add(lowerDirectArgument(r.pos(max(0, e.At()))))
	default:
		return true
	}
	return false
}

// argumentsOf are the arguments of an aggregate or GROUPING: those of which it is computed for each group, and those that decide where it belongs.
func argumentsOf(e sqltext.Expr, call sqltext.Call) (direct, args []sqltext.Expr) {
	if e.IsGrouping() {
		return nil, e.Children()
	}
	if args = slices.Clone(call.Args); call.WithinGroup {
		direct, args = args, nil
	}
	for _, item := range call.Order {
		args = append(args, item.Expr)
	}
	return direct, args
}

// columnOfAggregate is the column that an aggregate is of the query to which it belongs.
func (r *resolver) columnOfAggregate(e sqltext.Expr, call sqltext.Call, l *level) algebra.ColID {
	var bound algebra.Scalar
	if l.scope.values != nil {
		bound = l.scope.values.bind(e, l.clause)
	} else {
		bound = r.bind(e, l.scope, l.clause)
	}
	for _, known := range l.aggregates {
		if sqltext.Equal(known.call.Expr, bound.Expr) {
			return known.id
		}
	}
	name := call.Name
	if e.IsGrouping() {
		name = "grouping"
	}
	info := r.computed(name, bound)
	if r.picks(call) {
		info.Varied, info.Any = false, info.Varied || info.Any
	}
	id := r.typed(info, func() catalog.Shape { return r.shape(bound.Expr, l.scope) }, bound.Expr)
	l.aggregates = append(l.aggregates, outerAggregate{id, bound})
	return id
}

// aggregateOf is the aggregate of a query that a column is in its subqueries.
func (l *level) aggregateOf(id algebra.ColID) (algebra.Scalar, bool) {
	n := slices.IndexFunc(l.aggregates, func(a outerAggregate) bool { return a.id == id })
	if n < 0 {
		return algebra.Scalar{}, false
	}
	return l.aggregates[n].call, true
}

// placeOf is where an aggregate stands.
func (r *resolver) placeOf(e sqltext.Expr, form string) place {
	return place{r.viewed(), e.At(), form}
}

// ownerPlace is where a SELECT stands. One without a list begins where the first SELECT in its FROM does: how many of them do is part of its place.
func (r *resolver) ownerPlace(q *sqltext.Select) place {
	at := place{r.viewed(), q.Pos, outerOwner}
	for ; q != nil && len(q.Targets) == 0; q = firstIn(q) {
		at.form += " around"
	}
	return at
}

// firstIn is the SELECT with which the FROM clause of another begins; nil if it begins with something else.
func firstIn(q *sqltext.Select) *sqltext.Select {
	if len(q.From) == 0 {
		return nil
	}
	from := q.From[0]
	for join, ok := from.(*sqltext.JoinRef); ok; join, ok = from.(*sqltext.JoinRef) {
		from = join.Left
	}
	sub, ok := from.(*sqltext.SubqueryRef)
	if !ok {
		return nil
	}
	in := sub.Query
	for set, ok := in.(*sqltext.SetOp); ok; set, ok = in.(*sqltext.SetOp) {
		in = set.Left
	}
	first, _ := in.(*sqltext.Select)
	return first
}

// viewed is the view whose query is being resolved; nil for the query itself.
func (r *resolver) viewed() *catalog.Relation {
	if len(r.views) == 0 {
		return nil
	}
	return r.views[len(r.views)-1]
}

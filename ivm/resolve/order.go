package resolve

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// ORDER BY says nothing of a stored result, but rows of a subquery come in it, and array_agg and the like take them as they come.

// ordering is an order in which rows come.
type ordering struct {
	keys []orderKey // nil where it is not one of columns that are seen outside
}

type orderKey struct {
	sqltext.SortItem // without its expression
	id               algebra.ColID
}

// unknownOrder is an order that cannot be written down outside of the query that makes it.
var unknownOrder = &ordering{}

// through is the order of a query that passes rows on, its items being what becomes of columns.
func (o *ordering) through(items []algebra.Item) *ordering {
	if o == nil {
		return nil
	}
	passed := &ordering{}
	for _, key := range o.keys {
		at := slices.IndexFunc(items, func(i algebra.Item) bool {
			id, ok := i.Expr.Column()
			return ok && id == key.id
		})
		if at < 0 {
			return unknownOrder
		}
		passed.keys = append(passed.keys, orderKey{key.SortItem, items[at].ID})
	}
	return passed
}

// items is the order as a call of an aggregate says it.
func (o *ordering) items() []sqltext.SortItem {
	var items []sqltext.SortItem
	for _, key := range o.keys {
		item := key.SortItem
		item.Expr = sqltext.Column(int(key.id))
		items = append(items, item)
	}
	return items
}

// selected is what a SELECT makes its rows of.
type selected struct {
	targets []target
	on      []sqltext.Expr                      // DISTINCT ON
	over    func(algebra.Scalar) algebra.Scalar // an expression over rows, over what the columns are computed of; nil of DISTINCT
	order   *ordering                           // in which the rows come, over what the columns are computed of
}

// tail resolves what may stand behind a query, and DISTINCT ON. of is what it selects; set operations and VALUES have none.
func (r *resolver) tail(t sqltext.Tail, at int, s *scope, rel relation, of selected) relation {
	if len(t.Locks) > 0 {
		r.errs.Add(refused(r.pos(at), "FOR "+strings.ToUpper(t.Locks[0].Strength), "it would lock rows on each refresh"))
	}
	f := &firsts{resolver: r, rel: rel, over: of.over, place: first(t.Limit.At(), t.Offset.At(), at), clause: "LIMIT"}
	if len(of.on) > 0 {
		f.clause = "DISTINCT ON"
	} else if t.Limit.IsZero() {
		f.clause = "OFFSET"
	}
	for i, e := range []sqltext.Expr{t.Limit, t.Offset} {
		if n, ok := e.Integer(); e.IsZero() || i == 1 && ok && n == 0 { // OFFSET 0 skips no row
			continue
		}
		bound := r.bind(e, s, limits[i])
		if read := bound.Columns(); slices.ContainsFunc(read, s.owns) {
			r.errs.Add(variableLimit(r.pos(max(0, e.At())), limits[i]))
			return rel
		} else if len(read) > 0 {
			r.full(max(0, e.At()), limits[i]+" that reads what stands before the query", "number the rows by a window function, and compare the number")
			return rel
		}
		r.checker().Argument(bound.Expr, limits[i], "bigint")
		if n, ok := e.Integer(); ok && n < 0 { // PostgreSQL reports it only when the view is read
			r.errs.Add(negativeLimit(r.pos(max(0, e.At())), limits[i]))
		}
		f.bound(i, bound)
	}
	if len(t.Order) > 0 {
		order := &ordering{}
		for _, item := range t.Order {
			if id, bound, _ := r.apart().silent().orderBy(item, s, rel, of.targets, "ORDER BY"); r.paths[id] || r.readsPath(bound) {
				if order = unknownOrder; f.limited() || len(of.on) > 0 {
					r.full(max(0, item.Expr.At()), pathsReason+" in whose order the first rows are taken", pathsHint)
				}
				continue
			}
			id, bound, ok := r.orderBy(item, s, rel, of.targets, "ORDER BY")
			if ok {
				r.checkSorted(item.Expr, id, item.Using)
			} else {
				order = unknownOrder
			}
			item.Expr = sqltext.Expr{}
			if order != unknownOrder {
				order.keys = append(order.keys, orderKey{item, id})
			}
			f.sort(item, id, bound)
		}
		rel.order = order
	}
	if !t.WithTies {
		f.breakTies(of.order)
	}
	for _, e := range of.on {
		id, bound, _ := r.apart().silent().orderBy(sqltext.SortItem{Expr: e}, s, rel, of.targets, "DISTINCT ON")
		f.key(id, bound)
	}
	if len(of.on) > 0 && len(t.Order) == 0 && of.order != nil {
		rel.order = unknownOrder // PostgreSQL sorts by the keys
	}
	if f.limited() {
		r.result.Limit = r.pos(f.place)
	}
	if f.ties = t.WithTies; rel.open == nil && (f.limited() || len(f.keys) > 0) {
		rel.node = f.node()
	}
	return rel
}

var limits = [2]string{"LIMIT", "OFFSET"}

// orderBy resolves an item of ORDER BY: a position or a name of the output, or an expression, which may be one of the output; other is one that is not.
func (r *resolver) orderBy(item sqltext.SortItem, s *scope, rel relation, targets []target, clause string) (id algebra.ColID, other algebra.Scalar, ok bool) {
	e := item.Expr
	if n, ok := e.Integer(); ok {
		switch {
		case rel.open != nil:
		case n < 1 || n > len(rel.ids):
			r.errs.Add(badPosition(r.pos(e.At()), clause, n))
		default:
			return rel.ids[n-1], other, true
		}
		return 0, other, false
	}
	if e.IsConstant() && !e.IsBoolean() {
		r.errs.Add(notInteger(r.pos(max(0, e.At())), clause))
		return 0, other, false
	}
	if ref, ok := e.Ref(); ok && len(ref.Parts) == 1 && !ref.Star {
		if n := slices.Index(rel.names, ref.Parts[0]); n >= 0 {
			return rel.ids[n], other, true
		}
	}
	if targets == nil { // of a set operation: names and positions only
		return 0, other, false
	}
	bound := r.bind(e, s, "")
	if clause == "DISTINCT ON" {
		r.checker().Groupable(bound.Expr)
	} else {
		r.checker().Sortable(bound.Expr, item.Using)
	}
	n := slices.IndexFunc(targets, func(t target) bool {
		if id, ok := bound.Column(); ok {
			other, plain := r.plain(t.expr, s)
			return plain && other == id
		}
		return sqltext.Equal(t.expr, e) || sqltext.Equal(r.apart().silent().bind(t.expr, s, "").Expr, bound.Expr)
	})
	if n < 0 || n >= len(rel.ids) {
		return 0, bound, false
	}
	return rel.ids[n], other, true
}

// plain is the column that an expression is, if it is no more than that.
func (r *resolver) plain(e sqltext.Expr, s *scope) (algebra.ColID, bool) {
	if id, ok := e.Column(); ok {
		return algebra.ColID(id), true
	}
	ref, ok := e.Ref()
	if !ok || ref.Star {
		return 0, false
	}
	return r.silent().column(ref, s)
}

func first(positions ...int) int {
	if n := slices.IndexFunc(positions, func(p int) bool { return p >= 0 }); n >= 0 {
		return positions[n]
	}
	return 0
}

// insensitive reports whether a call is of an aggregate of PostgreSQL's that takes rows in any order.
func (r *resolver) insensitive(call sqltext.Call) bool {
	same, rounds := sqltext.TakesAnyOrder(call.Name)
	return r.isBuiltin(call) && (same || rounds)
}

// picks reports whether an aggregate of PostgreSQL's shows any one of values that are equal and differ.
func (r *resolver) picks(call sqltext.Call) bool {
	return call.Name == "min" || call.Name == "max" || r.isBuiltin(call) && (call.Distinct || call.Name == "mode" || call.Name == "percentile_disc")
}

// ordered is a call of an aggregate over rows that come in an order: it takes them in that order from any relation. It is noted where that cannot be
// said.
func (r *resolver) ordered(e sqltext.Expr, call sqltext.Call, order *ordering) sqltext.Expr {
	if order == nil || call.Distinct || call.WithinGroup || r.insensitive(call) {
		return e
	}
	if len(order.keys) == 0 {
		r.lostOrder(call.Pos, call.Name+"()", "write the order into the call: "+call.Name+"(… order by …)")
		return e
	}
	return e.Ordered(order.items())
}

// lostOrder notes that something takes rows in the order of a subquery, which is unknown outside of it.
func (r *resolver) lostOrder(at int, taker, hint string) {
	r.full(at, "ORDER BY in a subquery, in whose order "+taker+" takes its rows", hint)
}

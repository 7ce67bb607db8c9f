package resolve

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// checkCalls checks the calls in a bound expression, but for those in subqueries.
func (r *resolver) checkCalls(e sqltext.Expr, s *scope, clause string) {
	if e.IsZero() {
		return
	}
	if call, ok := e.Call(); ok {
		r.checkCall(call, s, clause)
		r.checkNested(call)
		if clause == inFrom {
			clause = argumentInFrom
		}
	}
	if e.IsGrouping() && clause != "" && !s.knowsAny() {
		r.errs.Add(misplaced(r.pos(max(0, e.At())), e, clause))
	}
	for _, below := range e.Children() {
		r.checkCalls(below, s, clause)
	}
}

// checkCall refuses calls that no stored result can follow, and notes those that only recomputing does.
func (r *resolver) checkCall(call sqltext.Call, s *scope, clause string) {
	means := r.callable(call)
	if call.Over != nil && clause == "" {
		r.checkOver(call.Over, s)
	}
	switch {
	case means.Known && means.Least == sqltext.Volatile:
		r.errs.Add(volatileCall(r.pos(call.Pos), call.Name+"()"))
	case call.Over != nil && clause != "":
		r.errs.Add(misplacedWindow(r.pos(call.Pos), strings.TrimPrefix(clause, "arguments of ")))
	case call.Over != nil:
		if inner, ok := r.callIn(call.Args, isWindow); ok {
			r.errs.Add(nestedWindow(r.pos(inner.Pos)))
		}
	case r.isAggregate(call) && clause != "":
		if !s.knowsAny() { // an unknown column may be one of a query around, and the aggregate with it
			r.errs.Add(misplacedAggregate(r.pos(call.Pos), strings.TrimPrefix(clause, "arguments of ")))
		}
	case means.Set && slices.Contains(setless, clause):
		r.errs.Add(misplacedSet(r.pos(call.Pos), clause))
	case means.Set && clause != inFrom:
		r.full(call.Pos, setReturning, "call it in FROM")
	case !r.isBuiltin(call):
	case catalog.IsClock(call.Name, len(call.Args)):
		r.full(call.Pos, "the time of day ("+call.Name+")", timeHint(catalog.MomentType(call.Name)))
	case catalog.IsStateful(call.Name):
		r.full(call.Pos, "the state of the database or the session ("+call.Name+")", "")
	}
}

// checkOver checks what a window function call says of its window.
func (r *resolver) checkOver(w *sqltext.Window, s *scope) {
	if w.Name != "" && !slices.ContainsFunc(s.windows, func(k sqltext.Window) bool { return k.Name == w.Name }) {
		r.errs.Add(unknownWindow(r.pos(w.Pos), w.Name))
	}
	r.checkWindow(w, s.windows)
}

// checkWindow checks the names in a window, and that it does not change what it extends.
func (r *resolver) checkWindow(w *sqltext.Window, known []sqltext.Window) {
	base := w.Base
	at := slices.IndexFunc(known, func(k sqltext.Window) bool { return k.Name == base })
	switch {
	case base == "":
	case at < 0:
		r.errs.Add(unknownWindow(r.pos(w.Pos), base))
	case len(w.Partition) > 0:
		r.errs.Add(changedWindow(r.pos(w.Pos), "PARTITION BY", base))
	case len(w.Order) > 0 && len(known[at].Order) > 0:
		r.errs.Add(changedWindow(r.pos(w.Pos), "ORDER BY", base))
	case known[at].Frame != "":
		r.errs.Add(framedWindow(r.pos(w.Pos), base))
	}
}

// A function in FROM may return rows, but none in its arguments.
const (
	inFrom         = "functions in FROM"
	argumentInFrom = "arguments of " + inFrom
)

// setless are the clauses in which no function can return a set.
var setless = []string{"WHERE", "HAVING", joinConditions, "LIMIT", "OFFSET", "VALUES"}

// checkNested refuses what an aggregate's arguments cannot hold, since they are computed for each row of a group.
func (r *resolver) checkNested(call sqltext.Call) {
	if !r.isAggregate(call) {
		return
	}
	if inner, ok := r.callIn([]sqltext.Expr{call.Filter}, r.isAggregate); ok {
		r.errs.Add(misplacedAggregate(r.pos(inner.Pos), "FILTER"))
	}
	args := slices.Clone(call.Args)
	for _, item := range call.Order {
		args = append(args, item.Expr)
	}
	if inner, ok := r.callIn(args, r.isAggregate); ok {
		r.errs.Add(nestedAggregate(r.pos(inner.Pos)))
	}
	if inner, ok := r.callIn(args, isWindow); ok {
		r.errs.Add(windowInAggregate(r.pos(inner.Pos)))
	}
}

func isWindow(call sqltext.Call) bool { return call.Over != nil }

// callIn finds the first call of a kind in expressions, but for subqueries in them.
func (r *resolver) callIn(list []sqltext.Expr, is func(sqltext.Call) bool) (sqltext.Call, bool) {
	for _, e := range list {
		if call, ok := e.Call(); ok && is(call) {
			return call, true
		}
		if call, ok := r.callIn(e.Children(), is); ok {
			return call, true
		}
	}
	return sqltext.Call{}, false
}

// checkTime notes what the grammar knows of time and of who asks.
func (r *resolver) checkTime(e sqltext.Expr) {
	name, ok := e.ValueFunction()
	switch {
	case !ok:
	case catalog.IsClock(name, 0):
		r.full(e.At(), "the time of day ("+name+")", timeHint(r.momentOf(e)))
	default:
		r.errs.Add(whoAsks(r.pos(e.At()), name))
	}
	if form := e.Form(); form.Kind == sqltext.CastForm {
		if text, ok := form.Parts[0].Text(); ok && sqltext.IsMoment(form.Type, text) {
			r.full(e.At(), "the time of day ('"+text+"')", timeHint("", false))
		}
	}
}

// checkOutside notes functions, operators and casts whose results depend on more than their arguments.
func (r *resolver) checkOutside(e sqltext.Expr) {
	for _, use := range e.Uses() {
		if outside, ok := r.catalog.OutsideIn(r.path, use); ok {
			r.full(max(0, use.Pos), "the function "+outside.Function+", which "+outside.Does, "")
		}
	}
}

// callable describes what a call can mean where the query looks names up.
func (r *resolver) callable(call sqltext.Call) catalog.Callable {
	return r.catalog.CallableIn(r.path, call.Schema, call.Name, len(call.Args))
}

// isAggregate reports whether a call aggregates rows. A window function call does not.
func (r *resolver) isAggregate(call sqltext.Call) bool {
	means := r.callable(call)
	return call.Over == nil && means.Aggregate && !means.Plain
}

// isBuiltin reports whether a call can only mean PostgreSQL's own function.
func (r *resolver) isBuiltin(call sqltext.Call) bool {
	return call.Schema == "pg_catalog" || call.Schema == "" && len(r.catalog.FunctionIn(r.path, "", call.Name)) == 0
}

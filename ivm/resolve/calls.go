package resolve

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// checkCall refuses calls that no stored result can follow, and notes those that only recomputing does.
func (r *resolver) checkCall(call sqltext.Call, clause string) {
	means := r.catalog.Callable(call.Schema, call.Name, len(call.Args))
	switch {
	case means.Known && means.Least == sqltext.Volatile:
		r.errs.Add(volatileCall(r.pos(call.Pos), call.Name+"()"))
	case call.Over != nil && clause != "":
		r.errs.Add(misplacedWindow(r.pos(call.Pos), clause))
	case call.Over != nil:
		r.full(call.Pos, "window function", "")
	case means.Known && means.Aggregate && !means.Plain && clause != "":
		r.errs.Add(misplacedAggregate(r.pos(call.Pos), clause))
	case means.Set:
		r.full(call.Pos, "set-returning function", "")
	case isClock(call.Name) && (call.Schema == "" || call.Schema == "pg_catalog"):
		r.full(call.Pos, "the time of day ("+call.Name+")", "compare with it where the stream table is read")
	}
}

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

// clocks are the functions whose result changes by itself.
var clocks = []string{
	"now", "transaction_timestamp", "statement_timestamp",
	"current_date", "current_time", "current_timestamp", "localtime", "localtimestamp",
}

func isClock(name string) bool { return slices.Contains(clocks, name) }

// checkTime notes what the grammar knows of time and of who asks.
func (r *resolver) checkTime(e sqltext.Expr) {
	name, ok := e.ValueFunction()
	switch {
	case !ok:
	case isClock(name):
		r.full(e.At(), "the time of day ("+name+")", "compare with it where the stream table is read")
	default:
		r.errs.Add(whoAsks(r.pos(e.At()), name))
	}
}

// isAggregate tells whether a call aggregates rows. A window function call does not.
func (r *resolver) isAggregate(call sqltext.Call) bool {
	means := r.catalog.Callable(call.Schema, call.Name, len(call.Args))
	return call.Over == nil && means.Aggregate && !means.Plain
}

// isBuiltin tells whether a call can only mean PostgreSQL's own function.
func (r *resolver) isBuiltin(call sqltext.Call) bool {
	return call.Schema == "pg_catalog" || call.Schema == "" && len(r.catalog.Function("", call.Name)) == 0
}

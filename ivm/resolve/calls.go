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

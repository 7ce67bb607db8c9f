package resolve

import "github.com/pgsluice/sluice/ivm/sqltext"

// inFixed notes the subqueries that stand where PostgreSQL takes no column of the rows, which could stand for them, and says where that is: in offsets of window
// frames and in direct arguments of ordered-set aggregates. where: that e stands in one.
func inFixed(e sqltext.Expr, where string, found map[any]string) {
	if _, ok := e.Subquery(); ok && where != "" {
		found[e.SubqueryID()] = where
	}
	for _, below := range e.Children() {
		inFixed(below, where, found)
	}
	call, ok := e.Call()
	if !ok {
		return
	}
	if call.WithinGroup {
		for _, direct := range call.Args {
			inFixed(direct, "a direct argument of an ordered-set aggregate", found)
		}
	}
	if call.Over != nil {
		for _, bound := range call.Over.Bounds {
			inFixed(bound, "a frame of a window", found)
		}
	}
}

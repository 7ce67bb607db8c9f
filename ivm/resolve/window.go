package resolve

import (
	"slices"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// withWindows writes what the WINDOW clause says into the calls that name or extend it, and leaves those that must not for checkCall to report.
func withWindows(q *sqltext.Select, targets []target) *sqltext.Select {
	if len(q.Windows) == 0 {
		return q
	}
	for i := range targets {
		targets[i].expr = targets[i].expr.WithWindows(q.Windows)
	}
	written := *q
	written.Order = slices.Clone(q.Order)
	for i := range written.Order {
		written.Order[i].Expr = written.Order[i].Expr.WithWindows(q.Windows)
	}
	return &written
}

// windowing collects the window function calls of a SELECT, which see the rows that WHERE, GROUP BY and HAVING leave.
type windowing struct {
	*resolver
	scope *scope
	order *ordering // of the rows, nil if they have none
	calls []windowCall
	sorts bool // rows are sorted for a call
}

// windowCall is a call with what all rows that it sees have in common.
type windowCall struct {
	algebra.WindowCall
	keys []sqltext.Expr
}

// over has each window function call in an expression become a column.
func (w *windowing) over(e algebra.Scalar) algebra.Scalar {
	return algebra.Scalar{Expr: e.Expr.Map(func(e sqltext.Expr) (sqltext.Expr, bool) {
		call, ok := e.Call()
		if !ok || call.Over == nil {
			return sqltext.Expr{}, false
		}
		return sqltext.Column(int(w.add(e, call))), true
	})}
}

// add adds a call, unless the same one is there.
func (w *windowing) add(e sqltext.Expr, call sqltext.Call) algebra.ColID {
	added := windowCall{keys: partition(call.Over)}
	w.sorts = w.sorts || len(call.Over.Partition) > 0 || len(call.Over.Order) > 0
	added.Loose, e = w.loose(e, call)
	for _, known := range w.calls {
		if sqltext.Equal(known.Call.Expr, e) {
			return known.ID
		}
	}
	added.Call = algebra.Scalar{Expr: e}
	info := w.computed(call.Name, added.Call)
	if w.picks(call) {
		info.Varied, info.Any = false, info.Varied || info.Any
	}
	added.ID = w.typed(info, func() catalog.Shape { return w.shape(e, w.scope) }, e)
	w.calls = append(w.calls, added)
	return added.ID
}

// partition are the expressions by which a window partitions, but for constants.
func partition(w *sqltext.Window) []sqltext.Expr {
	var keys []sqltext.Expr
	for _, e := range w.Partition {
		parts := []sqltext.Expr{e}
		if form := e.Form(); form.Kind == sqltext.RowForm {
			parts = form.Parts
		}
		for _, part := range parts {
			if len(part.Columns()) > 0 && !contains(keys, part) {
				keys = append(keys, part)
			}
		}
	}
	return keys
}

func contains(list []sqltext.Expr, e sqltext.Expr) bool {
	return slices.ContainsFunc(list, func(in sqltext.Expr) bool { return sqltext.Equal(in, e) })
}

// peers are PostgreSQL's functions that treat rows alike of which the window's order puts none first; places are those that tell them apart, whatever the frame.
var (
	peers  = []string{"rank", "dense_rank", "percent_rank", "cume_dist"}
	places = []string{"row_number", "ntile", "lag", "lead"}
)

// loose reports whether a call tells rows apart that its window's order does not, in a way that a longer order leaves as it is. It sees all rows in the order
// of a subquery then, if its window has none.
func (w *windowing) loose(e sqltext.Expr, call sqltext.Call) (bool, sqltext.Expr) {
	own, frame := w.isBuiltin(call), call.Over.FrameKind()
	means := w.callable(call)
	aggregate := means.Aggregate && !means.Plain
	switch {
	case own && slices.Contains(peers, call.Name):
		return false, e
	case own && slices.Contains(places, call.Name):
	case !own && !aggregate: // a window function of which nothing is known
		return false, e
	case frame == sqltext.RowsFrame:
	case frame == sqltext.DefaultFrame && len(call.Over.Order) == 0 && !w.insensitive(call):
		e = e.OverAll()
	case frame == sqltext.DefaultFrame && own && call.Name == "first_value":
	default:
		return false, e
	}
	if w.order != nil && len(call.Over.Order) == 0 {
		if len(w.order.keys) == 0 {
			w.lostOrder(call.Pos, call.Name+"()", "write the order into the window: over (… order by …)")
			return false, e
		}
		e = e.OverOrdered(w.order.items())
	}
	return true, e
}

// attach puts the calls above a tree: in one node those whose partitions have keys in common that are all of one of them.
func (w *windowing) attach(node algebra.Node) algebra.Node {
	order := slices.Clone(w.calls)
	slices.SortStableFunc(order, func(a, b windowCall) int { return len(a.keys) - len(b.keys) })
	type window struct {
		keys  []sqltext.Expr
		calls []algebra.WindowCall
	}
	var windows []window
	for _, c := range order {
		at := slices.IndexFunc(windows, func(o window) bool {
			return len(o.keys) > 0 == (len(c.keys) > 0) && !slices.ContainsFunc(o.keys, func(k sqltext.Expr) bool { return !contains(c.keys, k) })
		})
		if at < 0 {
			at, windows = len(windows), append(windows, window{keys: c.keys})
		}
		windows[at].calls = append(windows[at].calls, c.WindowCall)
	}
	slices.Reverse(windows)
	for _, o := range windows {
		n := &algebra.Window{Input: node, Calls: o.calls}
		for _, k := range o.keys {
			n.Keys = append(n.Keys, w.keyOf(algebra.Scalar{Expr: k}))
		}
		node = n
	}
	return node
}

// keyOf is a key with what is known of it.
func (w *windowing) keyOf(e algebra.Scalar) algebra.Item {
	if id, ok := e.Column(); ok {
		return algebra.Item{ID: id, Expr: e}
	}
	return algebra.Item{ID: w.typed(w.computed("key", e), func() catalog.Shape { return w.shape(e.Expr, w.scope) }, e.Expr), Expr: e}
}

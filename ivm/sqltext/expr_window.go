package sqltext

import (
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v5"
)

// PostgreSQL's bits of frames: see nodes/parsenodes.h.
const (
	frameGiven         = 0x00001
	frameRows          = 0x00004
	frameBetween       = 0x00010
	frameFromFirst     = 0x00020
	frameToLast        = 0x00100
	frameExcludesPeers = 0x10000 | 0x20000
)

// Frame says what a window function call sees of its partition, as far as that concerns rows of which the window's order puts none first.
type Frame string

// The frames.
const (
	DefaultFrame Frame = ""      // up to the row's last peer, or all rows where there is no order
	RowsFrame    Frame = "rows"  // which counts rows, one by one
	PeersFrame   Frame = "peers" // in which such rows are treated alike
)

// FrameKind is the kind of frame that the window says.
func (w Window) FrameKind() Frame {
	options := w.def.GetFrameOptions()
	switch {
	case options&frameGiven == 0:
		return DefaultFrame
	case options&frameRows != 0 && options&frameExcludesPeers == 0:
		return RowsFrame
	}
	return PeersFrame
}

// WithWindows returns an expression in which window function calls say themselves what those of a WINDOW clause say that they name or extend, as far as they may.
func (e Expr) WithWindows(clause []Window) Expr {
	if len(clause) == 0 {
		return e
	}
	return e.Map(func(e Expr) (Expr, bool) {
		call, ok := e.Call()
		if !ok || call.Over == nil || call.Over.Name == "" && call.Over.Base == "" {
			return Expr{}, false
		}
		def, ok := written(call.Over.def, clause)
		return e.over(def), ok
	})
}

// written is a window with all that it names or extends. It is false if that is not there, or must not be changed like this.
func written(w *pg_query.WindowDef, clause []Window) (*pg_query.WindowDef, bool) {
	name := w.Name
	if name == "" {
		name = w.Refname
	}
	at := slices.IndexFunc(clause, func(k Window) bool { return k.Name == name })
	if name == "" {
		return w, true
	}
	if at < 0 {
		return nil, false
	}
	named := clause[at].def
	full := copyOf(&pg_query.Node{Node: &pg_query.Node_WindowDef{WindowDef: named}}).GetWindowDef()
	full.Name = ""
	below, ok := written(full, clause[:at])
	switch {
	case !ok:
		return nil, false
	case w.Name != "": // as it is
		return below, true
	case len(w.PartitionClause) > 0, len(w.OrderClause) > 0 && len(below.OrderClause) > 0, named.FrameOptions&frameGiven != 0:
		return nil, false
	}
	def := copyOf(&pg_query.Node{Node: &pg_query.Node_WindowDef{WindowDef: w}}).GetWindowDef()
	def.Refname, def.PartitionClause = "", below.PartitionClause
	if len(below.OrderClause) > 0 {
		def.OrderClause = below.OrderClause
	}
	return def, true
}

// over returns the call with another window.
func (e Expr) over(def *pg_query.WindowDef) Expr {
	if def == nil {
		return e
	}
	call := copyOf(e.node)
	switch n := call.Node.(type) {
	case *pg_query.Node_FuncCall:
		n.FuncCall.Over = def
	case *pg_query.Node_JsonArrayAgg:
		n.JsonArrayAgg.Constructor.Over = def
	case *pg_query.Node_JsonObjectAgg:
		n.JsonObjectAgg.Constructor.Over = def
	}
	return Expr{call}
}

// OverOrdered returns a window function call with a longer order of its window.
func (e Expr) OverOrdered(items []SortItem) Expr {
	call, _ := e.Call()
	def := copyOf(&pg_query.Node{Node: &pg_query.Node_WindowDef{WindowDef: call.Over.def}}).GetWindowDef()
	for _, i := range items {
		def.OrderClause = append(def.OrderClause, i.node())
	}
	return e.over(def)
}

// OverAll returns a window function call over a window without an order, with a frame that says that it sees all rows.
func (e Expr) OverAll() Expr {
	call, _ := e.Call()
	def := copyOf(&pg_query.Node{Node: &pg_query.Node_WindowDef{WindowDef: call.Over.def}}).GetWindowDef()
	def.FrameOptions = frameGiven | frameRows | frameBetween | frameFromFirst | frameToLast
	return e.over(def)
}

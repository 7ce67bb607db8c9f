package render

import "slices"

// AnyAtCommit reports whether transactions maintain a stream table when they commit.
func (p Plan) AnyAtCommit() bool { return p.any(func(t StreamTable) bool { return t.AtCommit }) }

// Swift are the stream tables that a commit of few rows of tables applies these to at once: their changes go nowhere else.
func (p Plan) Swift() []StreamTable {
	return slices.DeleteFunc(slices.Clone(p.StreamTables), func(t StreamTable) bool {
		return !t.AtCommit || t.Outbox != nil || len(t.Delta) == 0 || len(t.Upstream) > 0
	})
}

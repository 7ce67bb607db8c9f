package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// What the catalog has of a stream table, from which shared functions create it.

// StreamTableRow is a stream table's row of the catalog, which has the columns that some stream table needs.
type StreamTableRow struct {
	StreamTable
	All Extension
}

// ReadRow is a relation's row of the catalog.
type ReadRow struct {
	Read
	All Extension
}

// Stacked reports whether a stream table reads another.
func (p Plan) Stacked() bool {
	return p.FromSQLTable != nil || p.any(func(t StreamTable) bool { return len(t.Upstream) > 0 })
}

// ApplyName is the name of the function that applies its changes; empty if everything is recomputed.
func (t StreamTable) ApplyName() string {
	if len(t.Delta) == 0 {
		return ""
	}
	return t.ApplyFn.Name
}

// FollowedIDs are the sources whose changes it applies, as the catalog has them; in immediate mode in the order in which they are locked.
func (t StreamTable) FollowedIDs() []string {
	var ids []string
	for _, log := range t.Logs {
		ids = append(ids, log.ID())
	}
	return append(ids, plain(t.LockOrder())...)
}

// ShapeText is the name of its shape table; empty if it has none.
func (t StreamTable) ShapeText() string {
	if t.Shape.Name == "" {
		return ""
	}
	return t.Shape.String()
}

// StoredColumns lists what Rows stores of StoredFrom.
func (t StreamTable) StoredColumns() string {
	columns := t.StoredOf("q")
	if t.Grouped {
		columns = "s.*"
	} else {
		if t.Repeats {
			columns += ", null::bigint as __mult"
		}
	}
	if t.Hashed {
		columns += ", null::bigint as __hash"
	}
	if !t.Grouped {
		columns += commaBefore("k", t.Hidden())
	}
	return columns
}

// StoredFrom is where that comes from; empty for the query, as q.
func (t StreamTable) StoredFrom() string {
	switch {
	case t.Grouped:
		return "(\n" + t.RowsSQL + "\n) s"
	case t.RowsSQL != "":
		return "(\n" + t.Run() + "\n) q\ncross join (\n" + t.RowsSQL + "\n) k"
	}
	return ""
}

// StoredWith are the options of Rows. Groups change in place: that leaves room for new versions beside the old ones.
func (t StreamTable) StoredWith() string {
	if t.Grouped {
		return " with (fillfactor = 70)"
	}
	return ""
}

// StoredNotNull are the columns of Rows that hold no nulls.
func (t StreamTable) StoredNotNull() []string {
	var names []string
	if !t.Hashed {
		names = append(names, t.NotNull...)
	}
	if t.Repeats {
		names = append(names, "__mult")
	}
	return names
}

// RowIndexes are the statements that create the indexes by which rows are found. A hash finds rows whose identity may hold nulls.
func (t StreamTable) RowIndexes() []string {
	var statements []string
	index := func(kind string, name Name, columns string) {
		statements = append(statements, "create "+kind+"index "+sqltext.Ident(name.Name)+" on "+t.Rows.String()+" ("+columns+")")
	}
	if t.Hashed {
		index("", t.HashIndex, "__hash")
	}
	if t.UniqueKey != "" {
		index("unique ", t.KeyIndex, t.UniqueKey)
	}
	if len(t.Lookup) > 0 {
		index("", t.LookupIndex, list("", t.Lookup))
	}
	return statements
}

// SpecIndexes are the statements that create the indexes that the spec asks for.
func (t StreamTable) SpecIndexes() []string {
	var statements []string
	for _, index := range t.Indexes {
		statements = append(statements, fmt.Sprintf("create index if not exists %s on %s (%s)", sqltext.Ident(index.Name.Name), t.Rows, index.Key()))
	}
	return statements
}

// ViewQuery is the query of the view that users see.
func (t StreamTable) ViewQuery() string {
	if t.Unchecked {
		return t.AllRows() + t.LimitBy("r")
	}
	return t.rowsWhere(fmt.Sprintf("%s.checked_filled(%s, %s)", t.Internal(), sqltext.Literal(t.ID()), t.Rows.Regclass())) + t.LimitBy("r")
}

// AllRows is that query without its limit, and without the check that the stream table is filled.
func (t StreamTable) AllRows() string { return t.rowsWhere("") }

// rowsWhere has the visible rows that meet a condition. It is a join, which costs nothing: PostgreSQL would let writes through to a view of one table.
func (t StreamTable) rowsWhere(condition string) string {
	query := "select " + t.Shown("r") + " from " + t.Rows.String() + " r cross join "
	if t.Repeats {
		query += "pg_catalog.generate_series(1, r.__mult)"
	} else {
		query += "(select) read_only"
	}
	conditions := slices.DeleteFunc([]string{condition, t.ShownIf("r")}, func(c string) bool { return c == "" })
	if len(conditions) > 0 {
		query += " where " + strings.Join(conditions, " and ")
	}
	return query
}

// Limited reports whether users see the first rows only of those that are stored.
func (t StreamTable) Limited() bool { return t.LimitBy("r") != "" }

// Limits reports whether a stream table is Limited, or has first rows of something.
func (p Plan) Limits() bool {
	return p.any(func(t StreamTable) bool { return t.Limited() || t.Compared != "" })
}

// Strategy is how a delta is applied, with what it does.
type Strategy struct{ Name, Does string }

// strategies are all.
var strategies = []Strategy{
	{"merge_rows", "the rows by which the query changes are added and taken away"},
	{"merge_groups", "what their rows change is added to the stored groups"},
	{"rescan_keys", "affected groups are recomputed"},
	{"recompute", "everything is recomputed, and the difference is applied"},
}

// Strategies lists those that stream tables have.
func (p Plan) Strategies() []Strategy {
	var used []Strategy
	for _, s := range strategies {
		if p.any(func(t StreamTable) bool { return t.Strategy == s.Name }) {
			used = append(used, s)
		}
	}
	return used
}

// StrategyText says what its strategy does.
func (t StreamTable) StrategyText() string {
	for _, s := range strategies {
		if s.Name == t.Strategy {
			return s.Does
		}
	}
	return ""
}

// ChangeNo is the sequence that numbers rows of change logs.
func (p Plan) ChangeNo() Name { return p.fromSQLOrOwn()[0].ChangeNo }

// StreamTableComment is what comments of stream tables begin with.
func (e Extension) StreamTableComment() string { return StreamTableComment(e.Extension) }

// AnyImmediate reports whether a stream table is in immediate mode.
func (p Plan) AnyImmediate() bool {
	return p.any(func(t StreamTable) bool { return t.Immediate })
}

// AnyDeferred reports whether refreshes keep a stream table up to date.
func (p Plan) AnyDeferred() bool { return p.any(func(t StreamTable) bool { return !t.Immediate }) }

// Chained reports whether a stream table in immediate mode reads another stream table.
func (p Plan) Chained() bool {
	return slices.ContainsFunc(p.Captures, func(c Capture) bool { return c.Made })
}

// AnyCron reports whether a cron expression says when a stream table is due.
func (p Plan) AnyCron() bool {
	return p.any(func(t StreamTable) bool { return len(t.DueFunctions) > 0 })
}

// AnySeldom reports whether a refresh after the fill of a stream table would be a waste.
func (p Plan) AnySeldom() bool { return p.any(func(t StreamTable) bool { return t.Seldom }) }

// AnyIndex reports whether the spec asks for indexes of stream tables.
func (p Plan) AnyIndex() bool { return p.any(func(t StreamTable) bool { return len(t.Indexes) > 0 }) }

// AnyGrant reports whether roles may read stream tables.
func (p Plan) AnyGrant() bool { return p.any(func(t StreamTable) bool { return len(t.Grants) > 0 }) }

// AnyOnline reports whether a new definition of a stream table is filled beside the old rows.
func (p Plan) AnyOnline() bool { return p.any(func(t StreamTable) bool { return t.Online }) }

// AnyDelta reports whether a stream table follows change logs.
func (p Plan) AnyDelta() bool {
	return p.any(func(t StreamTable) bool { return len(t.Delta) > 0 || len(t.Logs) > 0 })
}

// ReadsViews reports whether a stream table reads a view.
func (p Plan) ReadsViews() bool {
	return slices.ContainsFunc(p.Reads, func(r Read) bool { return r.Kind == "view" })
}

// AnyKeys reports whether a stream table that follows change logs finds rows by the unique key of a source.
func (p Plan) AnyKeys() bool {
	return slices.ContainsFunc(p.Reads, func(r Read) bool {
		return slices.ContainsFunc(r.Needs, func(n Need) bool { return len(n.UniqueOn) > 0 })
	})
}

// TypedReads reports whether the generated SQL is for certain types of columns only.
func (p Plan) TypedReads() bool {
	return slices.ContainsFunc(p.Reads, func(r Read) bool {
		return slices.ContainsFunc(r.Needs, func(n Need) bool { return len(n.Types) > 0 })
	})
}

// AnyMoving reports whether rows of a stream table come and go as time passes.
func (p Plan) AnyMoving() bool { return p.any(func(t StreamTable) bool { return t.Moves }) }

// AnyFuse reports whether a stream table has a fuse.
func (p Plan) AnyFuse() bool { return p.any(func(t StreamTable) bool { return t.Fuse != "" }) }

// Counts reports whether how much changed decides how a stream table is refreshed.
func (p Plan) Counts() bool {
	return p.any(func(t StreamTable) bool { return t.Most != "" || t.Fuse != "" })
}

// Shapes reports whether only the server knows the columns of a stream table.
func (p Plan) Shapes() bool {
	return p.any(func(t StreamTable) bool { return t.Shape.Name != "" })
}

// HasRefreshGroups reports whether stream tables must be refreshed from one snapshot.
func (p Plan) HasRefreshGroups() bool { return len(p.RefreshGroups) < len(p.StreamTables) }

// Probe is a table that is gone when pgt_fit_stream_table ends.
func (e Extension) Probe() Name { return e.InInternal("pgt_probe") }

// PublishedImmediately are the stream tables in immediate mode with an outbox.
func (p Plan) PublishedImmediately() []StreamTable {
	var published []StreamTable
	for _, t := range p.StreamTables {
		if t.Immediate && t.Outbox != nil {
			published = append(published, t)
		}
	}
	return published
}

func (p Plan) any(is func(StreamTable) bool) bool {
	for _, t := range p.fromSQLOrOwn() {
		if is(t) {
			return true
		}
	}
	return false
}

package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// What the catalog has of a stream table, from which shared functions create it.

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

// ReadAtCommit reports whether a stream table in mode at_commit follows it.
func (t StreamTable) ReadAtCommit() bool {
	return slices.ContainsFunc(t.Feeds, func(s Source) bool { return s.CommitMark != "" })
}

// ToldTriggers are the triggers on its rows that note for its outbox what changed.
func (t StreamTable) ToldTriggers() []string {
	return t.told(func(c Changed) string { return c.Trigger })
}

// ToldFunctions are the functions that these call.
func (t StreamTable) ToldFunctions() []string {
	return t.told(func(c Changed) string { return c.Fn.Name })
}

func (t StreamTable) told(name func(Changed) string) []string {
	var names []string
	if t.Outbox != nil {
		for _, c := range t.Outbox.Changed {
			names = append(names, name(c))
		}
	}
	return names
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

// Strategy is how a delta is applied, with what it does.
type Strategy struct{ Name, Does string }

// strategies are all.
var strategies = []Strategy{
	{"merge_rows", "the rows by which the query changes are added and taken away"},
	{"merge_groups", "what their rows change is added to the stored groups"},
	{"rescan_keys", "affected groups are recomputed"},
	{"recompute", "everything is recomputed, and the difference is applied"},
}

// Strategies lists all.
func (p Plan) Strategies() []Strategy { return strategies }

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

// Probe is a table that is gone when pgt_fit_stream_table ends.
func (e Extension) Probe() Name { return e.InInternal("pgt_probe") }

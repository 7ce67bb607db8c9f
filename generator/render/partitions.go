package render

import "slices"

// ByRow reports whether all triggers of an inbox are for rows, as those for statements do not see what is written through a partition.
func (i Inbox) ByRow() bool { return i.Own != nil && i.Own.Partitioned }

// ByRow reports the same of the functions of its triggers.
func (o OwnTrigger) ByRow() bool { return o.Of.ByRow() }

// ByRow is false for the functions of triggers that managed inboxes share.
func (e Extension) ByRow() bool { return false }

// Partitioned reports whether an inbox is over a partitioned table, or may come to.
func (e Extension) Partitioned() bool {
	return e.FromSQL != nil || slices.ContainsFunc(e.Inboxes, Inbox.ByRow)
}

// WrittenTo are the relations that are locked where messages of v_inbox are written.
func (e Extension) WrittenTo() string {
	const table = "to_regclass(format('%I.%I', v_inbox.inbox_schema, v_inbox.inbox_table))"
	switch {
	case e.Partitioned():
		return "any (array(select p.relation from " + e.Internal() + ".pgt_partitions(" + table + ") p))"
	case e.OverTables():
		return table
	}
	return "v_table"
}

// RowVersion tells versions of rows at one place from each other; the partitions of a table have the same places.
func (e Extension) RowVersion(a string) string {
	if e.Partitioned() {
		return "(" + a + ".xmin::text::bigint + " + a + ".tableoid::bigint)"
	}
	return a + ".xmin::text::bigint"
}

// Applies is how the triggers that follow logical replication fire; those of a partitioned table for all that is written.
func (i Inbox) Applies() string {
	if i.ByRow() {
		return "always"
	}
	return "replica"
}

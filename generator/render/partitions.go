package render

// ByRow reports whether all triggers of an inbox are for rows, as those for statements do not see what is written through a partition.
func (i Inbox) ByRow() bool { return i.Own != nil && i.Own.Partitioned }

// ByRow reports the same of the functions of its triggers.
func (o OwnTrigger) ByRow() bool { return o.Of.ByRow() }

// ByRow is false for the functions of triggers that managed inboxes share.
func (e Extension) ByRow() bool { return false }

// Applies is how the triggers that follow logical replication fire; those of a partitioned table for all that is written.
func (i Inbox) Applies() string {
	if i.ByRow() {
		return "always"
	}
	return "replica"
}

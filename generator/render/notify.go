package render

// Channels of notifications, and what they name: the table of an outbox, or an inbox.
const (
	OutboxChannel = "pgtrickle_outbox_new"
	InboxChannel  = "pgtrickle_inbox_new"
)

// Notify is a trigger that wakes the listeners of a channel when rows of a table are committed; nil where nobody asked for it.
type Notify struct {
	Schemas
	Table            Name
	Trigger          string
	Channel, Payload string
	ByRow            bool // the table is partitioned: rows are written through its partitions, too
}

// Notifies reports whether an inbox or an outbox has such a trigger.
func (e Extension) Notifies() bool {
	for _, i := range e.Inboxes {
		if i.Notify != nil {
			return true
		}
	}
	for _, o := range e.Outboxes {
		if o.Notify != nil {
			return true
		}
	}
	return false
}

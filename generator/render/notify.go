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

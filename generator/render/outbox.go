package render

import (
	"fmt"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Lanes is how many hashes the keys of an ordered outbox are split into: that many consumers of a group can work at once.
const Lanes = 16

// Outbox is what templates know of one outbox, of events or of a stream table.
type Outbox struct {
	Extension string
	Schemas
	Path        string // in the spec
	Name        string
	Event       bool     // rather than of a stream table
	Feed        bool     // events of an inbox, which alone publishes them
	StreamTable string   // schema.name; empty for events
	PgtName     string   // its name alone
	PgtID       string   // a uuid that is made of its name
	Immediate   bool     // of a stream table in immediate mode
	Roles       Roles    // beside those of the extension
	Consumers   []string // all roles that may poll the outbox of a stream table
	Monitors    []string // and that may see how it stands
	Lenient     bool     // its consumers take other columns than before
	Asked       bool     // the spec gives the stream table one; any other may get one at run time

	Notify          *Notify
	OrderingKey     string // column; empty if rows of one key need no order
	Retention       string // interval constant; empty where the settings rule
	InlineThreshold string // number; empty where the settings rule
	OnFullRefresh   string
	IdleAfter       string // interval constant; empty where the settings rule
	IdlePolicy      string
	SegmentRows     string // ids of one partition; empty if the table has none

	Table, IDs, LaneIndex, CloudEvents, Debezium, Archive Name
	DeltaRows, Latest, Pending                            Name // of a stream table
	Shown, Rows, State                                    Name // the stream table, what stores it, and the table with its state
	SearchPath                                            string
	MakeFn, UnmakeFn, PublishFn                           Name
	FlushFn                                               Name // in immediate mode
	Changed                                               []Changed
	Publication                                           string
	Prefix                                                string // begins the names of its own functions
	TickNotifies                                          bool   // of new rows, rather than what writes them
	Default                                               Name   // what lies beyond the segments; of an outbox that has these, as what follows
	SegmentName                                           string // begins their names
	SegmentFn, RetireFn                                   Name
	MarkFn                                                Name   // of an ordered outbox, as what follows
	KeyLock                                               string // number: the first key of the advisory locks that mark keys
}

// Changed is a trigger on what stores a stream table in immediate mode: it notes what changed until the statement ends.
type Changed struct {
	Event   string // insert, update, delete or truncate
	Trigger string
	Fn      Name
}

// Tables are the transition tables of the trigger.
func (c Changed) Tables() string {
	return map[string]string{
		"insert": "new table as new_rows", "update": "old table as old_rows new table as new_rows", "delete": "old table as old_rows",
	}[c.Event]
}

// ChangedIn is a stream table with one of the triggers of its outbox.
type ChangedIn struct {
	StreamTable
	Changed
}

// Threshold is the number of changed rows up to which a payload holds them.
func (o Outbox) Threshold() string {
	if o.InlineThreshold != "" {
		return o.InlineThreshold
	}
	return "(select s.value from " + o.Internal() + ".pgt_setting('outbox_inline_threshold_rows') s)::integer"
}

// MostBytes is the size of rows as text up to which a payload holds them. PostgreSQL takes no jsonb array above 256 MB, and a jsonb may be seven
// times as large as its text.
func (o Outbox) MostBytes() int { return 32 << 20 }

// Snapshot reports that a refresh that recomputed writes the whole table.
func (o Outbox) Snapshot() bool { return o.OnFullRefresh == "snapshot" }

// Group is a consumer group that exists from the start.
type Group struct {
	Name, Outbox, Reset string
	MaxAttempts         string // number or null
}

// SpecGroup is a consumer group with the schemas of its extension.
type SpecGroup struct {
	Schemas
	Group
}

// Made reports that the outbox is made and dropped at run time.
func (o Outbox) Made() bool { return !o.Event }

// Kind is the outbox's kind in the catalog.
func (o Outbox) Kind() string {
	if o.Event {
		return "event"
	}
	return "stream_table"
}

// LitOrNull is a text as SQL, null if empty.
func (o Outbox) LitOrNull(text string) string {
	if text == "" {
		return "null"
	}
	return sqltext.Literal(text)
}

// Segmented reports that the outbox is partitioned by ranges of ids.
func (o Outbox) Segmented() bool { return o.SegmentRows != "" }

// Drained is the table of which retention deletes row by row.
func (o Outbox) Drained() Name {
	if o.Segmented() {
		return o.Default
	}
	return o.Table
}

// HashOf is the hash of the key of row a.
func (o Outbox) HashOf(a string) string {
	column := sqltext.Ident(o.OrderingKey)
	if a != "" {
		column = a + "." + column
	}
	return fmt.Sprintf("pg_catalog.hashtextextended(coalesce(%s, ''), 0)", column)
}

// Lane is the lane of the rows of an index: the hash of their key.
func (o Outbox) Lane() string { return laneOf(o.HashOf(""), "+", "&") }

// LaneOf is the lane of row a, 1 to Lanes, whatever the search_path.
func (o Outbox) LaneOf(a string) string { return LaneOf(o.HashOf(a)) }

// LaneOf is the lane of a key's hash.
func LaneOf(hash string) string {
	return laneOf(hash, "operator(pg_catalog.+)", "operator(pg_catalog.&)")
}

// LaneOf is the function of the same name.
func (e Extension) LaneOf(hash string) string { return LaneOf(hash) }

func laneOf(hash, plus, and string) string {
	return fmt.Sprintf("(1 %s (%s %s %d))::smallint", plus, hash, and, Lanes-1)
}

// OwnFn is a function that names the outbox's table. What all outboxes share calls it by the prefix in the outbox's row.
func (o Outbox) OwnFn(does string) Name { return o.InInternal(o.Prefix + "_" + does) }

// A publisher marks a key by two of many locks, by other bits of its hash than make the lane. So it takes few, however many keys it publishes, and
// yet another key seldom has both.
const halfOfMarks = 128

// FirstMark is one of the marks of a key's hash.
func FirstMark(hash string) string {
	return fmt.Sprintf("(%s operator(pg_catalog.>>) 4 operator(pg_catalog.&) %d)::integer", hash, halfOfMarks-1)
}

// SecondMark is the other one.
func SecondMark(hash string) string {
	return fmt.Sprintf("(%d operator(pg_catalog.+) (%s operator(pg_catalog.>>) 11 operator(pg_catalog.&) %d))::integer", halfOfMarks, hash, halfOfMarks-1)
}

// FirstMark is the function of the same name.
func (o Outbox) FirstMark(hash string) string { return FirstMark(hash) }

// SecondMark is the function of the same name.
func (o Outbox) SecondMark(hash string) string { return SecondMark(hash) }

// FirstMark is the function of the same name.
func (e Extension) FirstMark(hash string) string { return FirstMark(hash) }

// SecondMark is the function of the same name.
func (e Extension) SecondMark(hash string) string { return SecondMark(hash) }

// EventOutboxes are those that applications publish to.
func (e Extension) EventOutboxes() []Outbox {
	return e.outboxes(func(o Outbox) bool { return o.Event })
}

// MadeOutboxes are those of stream tables.
func (e Extension) MadeOutboxes() []Outbox {
	return e.outboxes(func(o Outbox) bool { return o.Made() })
}

func (e Extension) outboxes(are func(Outbox) bool) []Outbox {
	var some []Outbox
	for _, o := range e.Outboxes {
		if are(o) {
			some = append(some, o)
		}
	}
	return some
}

// EventOutboxNames lists those that applications publish to, in spec order.
func (e Extension) EventOutboxNames() []string {
	var names []string
	for _, o := range e.EventOutboxes() {
		names = append(names, o.Name)
	}
	return names
}

// Lanes is how many lanes ordered outboxes have.
func (e Extension) Lanes() int { return Lanes }

// GroupsTask is the task of tick that looks after consumer groups and outboxes.
const GroupsTask = "consumer groups"

// GroupsTask is the constant of the same name.
func (e Extension) GroupsTask() string { return GroupsTask }

// DrainTask is the task of tick that deletes what retention has passed over.
func (o Outbox) DrainTask() string { return "retention of outbox " + o.Name }

package docs

import (
	"fmt"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

func (w *writer) outboxes() part {
	p := part{ID: "outboxes", Title: "Outboxes"}
	for _, o := range w.Outboxes {
		switch {
		case o.Event:
			p.Parts = append(p.Parts, w.eventOutbox(o))
		case o.Asked:
			p.Parts = append(p.Parts, w.tableOutbox(o))
		}
	}
	return p
}

func (w *writer) eventOutbox(o render.Outbox) part {
	p := part{ID: anchor("outbox", o.Name), Kind: "outbox", Title: o.Name, IsName: true}
	object, _ := w.object("table", o.Table.String())
	w.described("table", o.Table.String(), p.ID)
	order := say("in the order of ids; several consumers of a group work on them at once")
	if o.OrderingKey != "" {
		order = joined(say("events that agree in "), code(o.OrderingKey), say(" one after the other, across all consumers of a group"))
	}
	p.Blocks = []block{
		paragraph(plain(sentence(object.Comment))),
		{Facts: append(w.outboxFacts(o), fact{"Handed out", order}, fact{"Publication", joined(code(o.Publication), say(", of inserts, for logical replication"))})},
		{Table: columnsOf("table", object.SQL, "outbox")},
		{SQL: fmt.Sprintf("-- in the transaction of the change:\nselect %s.outbox_publish(%s, 'thing.happened', '{\"a\": 1}', p_aggregate_id => '1');", w.Schema(), sqltext.Literal(o.Name))},
	}
	p.Parts = append(p.Parts, w.relation(o.CloudEvents, "view", "outbox cloudevents"), w.relation(o.Debezium, "view", "outbox debezium"))
	if o.Segmented() {
		p.Blocks = append(p.Blocks, paragraph(joined(
			say("Partitioned by %s ids, which retention drops as a whole; what comes when there is no partition for it goes to ", o.SegmentRows), code(o.Default.String()), say("."),
		)))
	}
	if o.Archive.Name != "" {
		p.Parts = append(p.Parts, w.relation(o.Archive, "table", "outbox archive"))
	}
	return p
}

// tableOutbox is that of a stream table, whose relations are made at run time.
func (w *writer) tableOutbox(o render.Outbox) part {
	p := part{ID: anchor("outbox", o.Name), Kind: "outbox", Title: o.Name, IsName: true}
	about := joined(say("What each refresh changed of stream table "), linked("stream-table", o.StreamTable), say(": a row for each that changed something."))
	if o.Immediate {
		about = joined(say("What each statement changed of stream table "), linked("stream-table", o.StreamTable), say(": a row for each that changed something."))
	}
	inline := joined(say("as setting "), setting("outbox_inline_threshold_rows"), say(" says; more are a claim check"))
	if o.InlineThreshold != "" {
		inline = say("up to %s; more are a claim check", o.InlineThreshold)
	}
	recomputed := "the rows that differ, like any other"
	if o.Snapshot() {
		recomputed = "the whole table"
	}
	p.Blocks = []block{
		paragraph(about),
		{Facts: append(w.outboxFacts(o), fact{"Rows in a payload", inline}, fact{"A refresh that recomputed publishes", plain(recomputed)})},
		{Table: viewColumns("table outbox")},
	}
	p.Parts = append(p.Parts,
		w.made("table", o.DeltaRows, "The rows of claim checks.", viewColumns("delta rows")),
		w.made("view", o.Latest, "The newest row of the outbox, with the same columns.", nil))
	return p
}

// made describes a relation that functions make.
func (w *writer) made(kind string, name render.Name, about string, columns *table) part {
	p := part{ID: anchor(kind, name.String()), Kind: kind, Title: name.String(), IsName: true, Blocks: []block{paragraph(plain(about))}}
	if columns != nil {
		p.Blocks = append(p.Blocks, block{Table: columns})
	}
	return p
}

func (w *writer) outboxFacts(o render.Outbox) []fact {
	idle := joined(say("as setting "), setting("consumer_stale_offset_threshold_days"), say(" says"))
	if o.IdleAfter != "" {
		idle = w.kept(o.IdleAfter, "")
	}
	policy := map[string]string{
		"alert":   "an alert; rows wait for it",
		"archive": "an alert; rows that are due to go are moved to the archive",
		"evict":   "an alert; rows that are due to go are deleted",
	}[o.IdlePolicy]
	return []fact{
		{"Table", code(o.Table.String())},
		{"In the spec", code(o.Path)},
		{"Consumed rows stay", w.kept(o.Retention, "outbox_retention_hours")},
		{"A group is idle after", idle},
		{"Then", plain(policy)},
	}
}

func (w *writer) groups() part {
	if len(w.Outboxes) == 0 {
		return part{}
	}
	p := part{ID: "consumer-groups", Title: "Consumer groups", Blocks: []block{
		paragraph(joined(
			say("A group is given each row of its outbox at least once, and no row to two of its consumers at a time. More groups can be made with "),
			w.function("create_consumer_group"), say("."))),
	}}
	for _, g := range w.Groups {
		p.Parts = append(p.Parts, w.group(g))
	}
	return p
}

func (w *writer) groupUse(name string) string {
	return fmt.Sprintf(`select id, payload, lease_id from %[1]s.poll_outbox(%[2]s, 'worker-1');  -- in a transaction of its own: a lease for 30 seconds

begin;
-- the work
select %[1]s.commit_offset(%[2]s, 'worker-1', 42, p_lease_id => 815);  -- the last id, and the lease; an error if it is lost
commit;`, w.Schema(), sqltext.Literal(name))
}

func (w *writer) group(g render.Group) part {
	start := map[string]string{
		"earliest": "with all that the outbox holds when the group is made",
		"latest":   "with what commits after the group is made",
	}[g.Reset]
	attempts := say("is delivered again, however often")
	if g.MaxAttempts != "null" {
		attempts = joined(say("becomes a dead letter after %s deliveries, in ", g.MaxAttempts), linked("table", w.In("pgt_consumer_dead_letters").String()))
	}
	return part{ID: anchor("group", g.Name), Kind: "group", Title: g.Name, IsName: true, Blocks: []block{{Facts: []fact{
		{"Consumes", linked("outbox", g.Outbox)},
		{"In the spec", code("consumer_groups." + g.Name)},
		{"Begins", plain(start)},
		{"A row that is not committed", attempts},
	}}, {SQL: w.groupUse(g.Name)}}}
}

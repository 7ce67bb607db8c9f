package docs

import (
	"github.com/pgsluice/sluice/generator/page"
	"github.com/pgsluice/sluice/generator/render"
)

// drawing has the boxes of the data flow.
type drawing struct{ *page.Flow }

// flow is the picture of who writes what, what is made of it, and who reads that.
func (w *writer) flow() part {
	d := &drawing{page.NewFlow()}
	for _, i := range w.Inboxes {
		d.Arrow(d.applications(w.writes()), d.inbox(i))
	}
	for _, o := range w.EventOutboxes() {
		d.Arrow(d.applications(w.writes()), d.outbox(o))
	}
	for _, t := range w.StreamTables {
		to := d.streamTable(t)
		for _, r := range w.readBy(t) {
			d.Arrow(w.source(d, r), to)
		}
		if t.Outbox != nil && t.Outbox.Asked {
			d.Arrow(to, d.outbox(*t.Outbox))
		}
	}
	for _, g := range w.Groups {
		to := d.Box("group "+g.Name, page.Box{Kind: "group", Of: g.Name, Lines: []string{"poll, commit"}, Color: page.Violet, Link: "#" + anchor("group", g.Name)})
		if from, there := d.Find("outbox " + g.Outbox); there {
			d.Arrow(from, to)
		}
	}
	for _, i := range w.Inboxes {
		d.Arrow(d.inbox(i), d.Box("workers", page.Box{Kind: "workers", Lines: []string{"claim, mark"}}))
	}
	if len(d.Boxes) == 0 {
		return part{}
	}
	d.Layout()
	return part{ID: "data-flow", Title: "Data flow", Blocks: []block{{Picture: d.Picture}}}
}

// writes says what applications do here.
func (w *writer) writes() string {
	switch {
	case len(w.Inboxes) == 0:
		return "publish"
	case len(w.EventOutboxes()) == 0:
		return "receive"
	}
	return "receive, publish"
}

func (d *drawing) applications(does string) int {
	return d.Box("applications", page.Box{Kind: "applications", Lines: []string{does}})
}

func (d *drawing) inbox(i render.Inbox) int {
	return d.Box("inbox "+i.Name, page.Box{Kind: "inbox", Of: i.Name, Lines: []string{"each message once"}, Color: page.Amber, Link: "#" + anchor("inbox", i.Name)})
}

func (d *drawing) outbox(o render.Outbox) int {
	what := "events"
	if !o.Event {
		what = "changes"
	}
	return d.Box("outbox "+o.Name, page.Box{Kind: "outbox", Of: o.Table.Name, Lines: []string{what}, Color: page.Rose, Link: "#" + anchor("outbox", o.Name)})
}

func (d *drawing) streamTable(t render.StreamTable) int {
	when := "every " + t.Schedule
	switch {
	case t.Immediate:
		when = "with each statement"
	case t.AtCommit:
		when = "with each commit"
	case t.LastDue != nil:
		when = t.Schedule
	case t.Schedule == "calculated":
		when = "as its readers need"
	}
	return d.Box("relation "+t.ID(), page.Box{
		Kind: "stream table", Of: t.ID(), Lines: []string{t.EffectiveMode + ", " + when}, Color: page.Green, Link: "#" + anchor("stream-table", t.ID()),
	})
}

// source is what a stream table reads: an inbox, another stream table, or a relation of the user's.
func (w *writer) source(d *drawing, r render.Read) int {
	for _, i := range w.Inboxes {
		if i.Table == r.Table {
			return d.inbox(i)
		}
	}
	for _, o := range w.EventOutboxes() {
		if o.Table == r.Table {
			return d.outbox(o)
		}
	}
	kind := r.Kind
	if kind == "other" {
		kind = "relation"
	}
	return d.Box("relation "+r.ID(), page.Box{Kind: kind, Of: r.ID(), Color: page.Blue})
}

// readBy lists the relations that a stream table reads.
func (w *writer) readBy(t render.StreamTable) []render.Read {
	var reads []render.Read
	for _, r := range w.Reads {
		for _, reader := range r.Readers {
			if reader == t.Table {
				reads = append(reads, r)
			}
		}
	}
	return reads
}

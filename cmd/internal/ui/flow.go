package ui

import (
	"fmt"
	"net/url"

	"github.com/pgsluice/sluice/cmd/internal/live"
	"github.com/pgsluice/sluice/generator/page"
	"github.com/pgsluice/sluice/ivm/diag"
)

// Colours of stripes say how an object is doing. Its lines say so in words.
const (
	good = page.Green
	weak = page.Amber
	bad  = "#c4314b"
)

// wide is as many columns as lines with figures have, so that boxes stay where they are while figures change.
const wide = 26

// drawing has the boxes of the data flow.
type drawing struct{ *page.Flow }

// draw is the picture of how an extension's parts read each other, with their figures; empty if there are none.
func draw(s *live.Status, f *live.Flow) string {
	d := &drawing{page.NewFlow()}
	relations := map[string]int{} // boxes of relations that are read
	for _, i := range s.Inboxes {
		box := d.inbox(i)
		d.Arrow(d.Box("producers", page.Box{Kind: "producers", Lines: figures("receive")}), box)
		d.Arrow(box, d.Box("workers", page.Box{Kind: "workers", Lines: figures("claim, mark")}))
		relations[tableOf(f, i.Name)] = box
	}
	for _, t := range s.StreamTables {
		relations[t.Name] = d.streamTable(t)
	}
	outboxes := map[string]int{}
	for _, o := range f.Outboxes {
		box := d.outbox(o.Name, s.Outboxes)
		outboxes[o.Outbox] = box
		if from, there := relations[deref(o.StreamTable)]; there && o.StreamTable != nil {
			d.Arrow(from, box)
		} else {
			d.Arrow(d.Box("transactions", page.Box{Kind: "transactions", Lines: figures("publish")}), box)
		}
		relations[o.Table] = box
	}
	for _, r := range f.Reads {
		to, there := relations[r.StreamTable]
		if !there {
			continue
		}
		from, known := relations[r.Relation]
		if !known {
			from = d.Box("relation "+r.Relation, page.Box{Kind: "relation", Of: r.Relation, Color: page.Blue})
			relations[r.Relation] = from
		}
		d.Arrow(from, to)
	}
	for _, g := range s.Groups {
		to := d.group(g)
		if from, there := outboxes[g.Outbox]; there {
			d.Arrow(from, to)
		}
	}
	if len(d.Boxes) == 0 {
		return ""
	}
	d.Layout()
	return page.Inline("Data flow", page.Panel{Picture: d.Picture})
}

func tableOf(f *live.Flow, inbox string) string {
	for _, i := range f.Inboxes {
		if i.Name == inbox {
			return i.Table
		}
	}
	return ""
}

func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// figures are lines of a width that does not depend on their numbers.
func figures(lines ...string) []string {
	for n, line := range lines {
		lines[n] = fmt.Sprintf("%-*s", wide, line)
	}
	return lines
}

func (d *drawing) inbox(i live.InboxStatus) int {
	state, color := i.Health, good
	switch {
	case i.Paused:
		state, color = "paused", weak
	case i.Health == "degraded":
		color = weak
	case i.Health != "healthy":
		color = bad
	}
	return d.Box("inbox "+i.Name, page.Box{Kind: "inbox", Of: i.Name, Color: color, Link: link("inbox", i.Name),
		Lines: figures(state, fmt.Sprintf("%d pending", i.Pending), diag.Count(i.DeadLetters, "dead letter"))})
}

func (d *drawing) streamTable(t live.StreamTableStatus) int {
	color := good
	switch t.Status {
	case "active":
	case "stale", "initializing":
		color = weak
	default:
		color = bad
	}
	waiting := ""
	if t.Waiting != nil {
		waiting = diag.Count(*t.Waiting, "row") + " waiting"
	}
	return d.Box("relation "+t.Name, page.Box{Kind: "stream table", Of: t.Name, Color: color, Link: link("stream_table", t.Name),
		Lines: figures(t.Status+", "+t.EffectiveMode, live.Age(t.StalenessSeconds)+" old", waiting)})
}

func (d *drawing) outbox(name string, all []live.OutboxStatus) int {
	b := page.Box{Kind: "outbox", Of: name, Color: weak, Link: link("outbox", name), Lines: figures("not readable", "")}
	for _, o := range all {
		if o.Name == name {
			b.Lines = figures(diag.Count(o.Rows, "row"), fmt.Sprintf("%.1f MB, storage %s", float64(o.TotalBytes)/(1<<20), o.Storage))
			if o.Storage == "ok" {
				b.Color = good
			}
		}
	}
	return d.Box("outbox "+name, b)
}

func (d *drawing) group(g live.GroupStatus) int {
	state, color := fmt.Sprintf("%d of %s alive", g.Healthy, diag.Count(g.Consumers, "consumer")), good
	switch {
	case g.Paused:
		state, color = "paused", weak
	case g.Lag > 0 && g.Healthy == 0:
		color = bad
	case g.DeadLetters > 0 || g.Healthy < g.Consumers:
		color = weak
	}
	return d.Box("group "+g.Name, page.Box{Kind: "group", Of: g.Name, Color: color, Link: link("group", g.Name),
		Lines: figures(state, diag.Count(g.Lag, "row")+" behind", diag.Count(g.DeadLetters, "dead letter"))})
}

// link leads to an object's part of the page.
func link(kind, name string) string { return "#" + kind + "/" + url.PathEscape(name) }

package docs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

func (w *writer) inboxes() part {
	p := part{ID: "inboxes", Title: "Inboxes"}
	for _, i := range w.Inboxes {
		p.Parts = append(p.Parts, w.inbox(i))
	}
	return p
}

func (w *writer) inbox(i render.Inbox) part {
	p := part{ID: anchor("inbox", i.Name), Kind: "inbox", Title: i.Name, IsName: true}
	var about string
	var held *table
	if i.Own != nil {
		about, held = fmt.Sprintf("An inbox over the existing table %s, which is never altered and never dropped.", i.Table), ownColumns(i)
	} else {
		o, _ := w.object("table", i.Table.String())
		w.described("table", i.Table.String(), p.ID)
		about, held = sentence(o.Comment), inboxColumns(i, o.SQL)
	}
	p.Blocks = []block{paragraph(plain(about)), {Facts: w.inboxFacts(i)}, {Table: held}, {SQL: w.inboxUse(i)}}
	p.Parts = append(p.Parts, w.messages(i.PendingView, i, "Messages that are neither processed nor dead, and due."))
	if i.DeadLetter {
		p.Parts = append(p.Parts, w.messages(i.DLQView, i, "Dead letters: messages that failed "+diag.Count(i.MaxRetries, "time")+"."))
	}
	if o := i.Ordering; o != nil {
		p.Parts = append(p.Parts, w.messages(o.NextView, i, "The next message of each aggregate, if it may be processed now."))
		if o.Contiguous {
			p.Parts = append(p.Parts, w.relation(o.GapsView, "view", "inbox gaps"))
		}
	}
	if i.Priority != nil {
		for _, tier := range i.Priority.Tiers {
			p.Parts = append(p.Parts, w.messages(tier.View, i, fmt.Sprintf("Pending messages of priorities %d to %d.", tier.Min, tier.Max)))
		}
	}
	if i.Stats {
		p.Parts = append(p.Parts, w.relation(i.StatsView, "view", "inbox stats"))
	}
	return p
}

// ownColumns are the columns of a table of the user's that an inbox uses.
func ownColumns(i render.Inbox) *table {
	meanings := map[string]string{"sequence": "What orders the messages of an aggregate."}
	for _, c := range columns["inbox"] {
		meanings[c.name] = c.meaning
	}
	t := &table{Head: []string{"Its column", "Type", "Meaning"}}
	for _, used := range i.Used() {
		t.Rows = append(t.Rows, []text{code(used.Name.Name()), code(used.Type), plain(meanings[used.As])})
	}
	return t
}

// journalColumns says what the columns mean that an inbox has as a journal.
var journalColumns = map[string]string{
	"sequence_no": "Grows from insert to insert; duplicates and rollbacks leave gaps.",
	"tag":         "What applications group messages by.",
	"status":      "`pending`, `failed` (due again, or a dead letter) or `processed`.",
	"updated_at":  "When it was inserted or changed last.",
}

// inboxColumns lists the columns of an inbox's table, those of its order and priority among them.
func inboxColumns(i render.Inbox, sql string) *table {
	t := columnsOf("table", sql, "inbox")
	for _, row := range t.Rows {
		name, last := row[0][0].Text, len(row)-1
		if meaning, is := journalColumns[name]; is && i.Journal != nil {
			row[last] = plain(meaning)
		} else if name == i.Columns.Sequence.Name() {
			row[last] = say("The message's number within its aggregate, by which it is processed.")
		} else if name == i.Columns.Priority.Name() {
			row[last] = say("The message's priority, lower first.")
		} else if name == i.Columns.MessageID.Name() {
			row[last] = say("The id that the sender gave.")
		} else if name == i.Columns.Tenant.Name() {
			row[last] = say("Whose message it is; the default is what the session names.")
		}
	}
	return t
}

// messages describes a view with the columns of the inbox, which is a stream table if the spec wants it materialized.
func (w *writer) messages(name render.Name, i render.Inbox, about string) part {
	p := part{ID: anchor("view", name.String()), Kind: "view", Title: name.String(), IsName: true}
	w.described("view", name.String(), p.ID)
	same := joined(say(" It has the columns of the table."))
	if i.Own != nil {
		same = joined(say(" It has the columns of the table that the inbox uses."))
	}
	if slices.ContainsFunc(w.StreamTables, func(t render.StreamTable) bool { return t.Table == name }) {
		same = joined(same, say(" It is "), text{{Text: "a stream table", Link: anchor("stream-table", name.Plain())}}, say("."))
	}
	p.Blocks = []block{paragraph(joined(plain(about), same))}
	return p
}

func (w *writer) inboxFacts(i render.Inbox) []fact {
	facts := []fact{
		{"Table", code(i.Table.String())},
		{"In the spec", code(i.Path)},
	}
	if i.EventID != "" {
		facts = append(facts, fact{"Id", joined(say("computed: "), code(strings.TrimSpace(i.EventID)))})
	}
	if ids := i.Columns.IDs; ids != nil {
		made := say("the texts of ")
		for n, id := range ids {
			if n > 0 {
				made = joined(made, say(" and "))
			}
			made = joined(made, code(id.Name()))
		}
		facts = append(facts, fact{"Id", joined(made, say(", joined by slashes; in a text, a slash is ~1 and a tilde ~0"))})
	}
	if i.Tenant != nil {
		facts = append(facts, fact{"Tenants", joined(say("by "), code(i.Columns.Tenant.Name()), say(": a session sees those messages whose tenant it names by "), code("pg_trickle.tenant"))})
	}
	if j := i.Journal; j != nil {
		tag := say("set by applications")
		if j.Tag != "" {
			tag = joined(say("computed: "), code(strings.TrimSpace(j.Tag)))
		}
		facts = append(facts, fact{"Journal, tag", tag})
	}
	if i.WireFormat != "" {
		facts = append(facts, fact{"Wire format", joined(code(i.WireFormat), say(", decoded by "), w.function("inbox_receive_wire"))})
	}
	if o := i.Ordering; o != nil {
		facts = append(facts, fact{"Order", joined(say("by "), code(o.Sequence.Name()), say(" within "), code(o.Aggregate.Name()), say(", %s; a dead letter: %s", o.Mode(), o.OnDeadLetter()))})
	}
	if i.Priority != nil {
		facts = append(facts, fact{"Priority", priority(i.Priority)})
	}
	retry := say("due again at once")
	if r := i.Retry; r != nil {
		retry = say("%s, from %s s up to %s s", r.Backoff, r.InitialSeconds, r.MaxSeconds)
	}
	if i.Feed.Name != "" {
		facts = append(facts, fact{"Change feed", code(i.Feed.String())})
	}
	if i.Window != "" {
		facts = append(facts, fact{"Ids are remembered", say("%s after processing", length(i.Window))})
	}
	return append(facts,
		fact{"After a failure", retry},
		fact{"Dead letter", say("after %s failures, or %s claims that ended without a mark or a failure", fmt.Sprint(i.MaxRetries), fmt.Sprint(i.MaxAttempts))},
		fact{"Background work", say("%s", every(i.Schedule, i.LastDue))},
		fact{"Processed messages stay", w.kept(i.ProcessedRetention, "inbox_processed_retention_hours")},
		fact{"Dead letters stay", w.kept(i.DeadRetention, "inbox_dlq_retention_hours")},
		fact{"Degraded", say("oldest pending message %s s old, or 10000 pending, or %s dead letters", i.DegradedSeconds, fmt.Sprint(i.DegradedDLQ))},
		fact{"Critical", say("oldest pending message %s s old, or 100000 pending", i.CriticalSeconds)},
	)
}

// priority says which messages go first.
func priority(p *render.Priority) text {
	said := joined(say("by "), code(p.Column.Name()), say(": "))
	for _, m := range p.Map {
		said = joined(said, code(m.Value), say(" %s, ", fmt.Sprint(m.Level)))
	}
	for _, t := range p.Tiers {
		said = joined(said, code(t.Tier), say(" %s to %s (every %s), ", fmt.Sprint(t.Min), fmt.Sprint(t.Max), t.Every))
	}
	return joined(said, say("then all others; overdue after %s", length(p.MaxWait)))
}

func (w *writer) inboxUse(i render.Inbox) string {
	name, id := sqltext.Literal(i.Name), "'message-1'"
	if i.EventID != "" {
		id = "null"
	}
	marked, named := "message-1", ""
	if i.Tenant != nil {
		marked, named = "acme/message-1", "set pg_trickle.tenant = 'acme';\n"
	}
	return named + fmt.Sprintf(`select %[1]s.inbox_receive(%[2]s, %[3]s, 'thing.happened', '{"a": 1}');  -- true; false for a duplicate

begin;
select event_id, event_type, payload from %[1]s.inbox_claim(%[2]s, 10);
-- the work, and for each message:
select %[1]s.inbox_mark_processed(%[2]s, '%[4]s');
commit;

select %[1]s.inbox_mark_failed(%[2]s, '%[4]s', 'what went wrong');  -- after a rollback`, w.Schema(), name, id, marked)
}

// every says how often background work looks.
func every(schedule string, cron *render.LastDue) string {
	if cron != nil {
		return "by cron: " + schedule + " (UTC)"
	}
	return "every " + schedule
}

// kept says how long something is kept: as long as its own retention, an interval's literal, or as a setting says.
func (w *writer) kept(own, name string) text {
	if own == "" {
		return joined(say("as setting "), setting(name), say(" says"))
	}
	if length := length(own); !strings.HasPrefix(length, "0 ") {
		return say("%s", length)
	}
	return say("forever")
}

// length is the text of an interval's literal.
func length(interval string) string {
	return strings.TrimSuffix(strings.TrimPrefix(interval, "interval '"), "'")
}

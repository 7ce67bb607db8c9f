package render

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Priority makes claims hand out urgent messages first.
//
// The pending messages of an inbox stand in its backlog, in the order of their levels and, within a level, of when they became due. Levels are few and
// known when the SQL is generated: those of a map of values, or one a tier, and one for all that has no place among them.
type Priority struct {
	Any     bool // it stands for those of inboxes that functions create
	Column  ColumnName
	Map     []Mapped // values of the column; empty if there are tiers
	Tiers   []Tier
	Levels  []Level // the most urgent first
	MaxWait string  // interval: every fourth claim begins with messages that have been due for longer

	Backlog, DueIndex Name
	ChangedFn, FillFn Name
	ClaimTurn         Name // a sequence that counts claims
}

// Mapped gives a level to a value of the column.
type Mapped struct {
	Value string
	Level int
}

// Tier is a range of priorities with a view of its pending messages.
type Tier struct {
	Inbox
	Tier     string
	Min, Max int
	View     Name
	Every    string // its schedule, as in the spec
}

// Level is a level with the sequence that holds where its next claim starts.
type Level struct {
	Inbox
	Level  int
	Cursor Name
}

// PriorityOf is what decides about the level of row a; old and new are rows of the table, others rows of Rows.
func (i Inbox) PriorityOf(a string) string { return i.column(a, "priority_value", i.Priority.Column) }

// LevelOf is the level of row a, as lines that stand at an indentation.
func (i Inbox) LevelOf(a, indent string) string {
	if i.Any {
		return inserted("level " + a)
	}
	p, column := i.Priority, i.PriorityOf(a)
	lines := []string{"case"}
	if len(p.Tiers) == 0 {
		lines[0] += " " + column
	}
	for _, m := range p.Map {
		lines = append(lines, fmt.Sprintf("    when %s then %d", sqltext.Literal(m.Value), m.Level))
	}
	for _, t := range p.Tiers {
		lines = append(lines, fmt.Sprintf("    when %s between %d and %d then %d", column, t.Min, t.Max, t.Min))
	}
	lines = append(lines, fmt.Sprintf("    else %d", p.Levels[len(p.Levels)-1].Level), "end")
	return strings.Join(lines, "\n"+indent)
}

// ShownPriority is the priority of row i, of which row b of the backlog is the entry, as functions return it.
func (i Inbox) ShownPriority() string {
	switch {
	case i.Any:
		return inserted("case when v_priority.tiers is null then 'b.level' else 'i.' || quote_ident(v_value) end")
	case len(i.Priority.Tiers) == 0:
		return "b.level"
	}
	return i.PriorityOf("i")
}

// BacklogRows are the rows of a statement, as far as the backlog goes by them.
func (i Inbox) BacklogRows(from string) string {
	if i.Own == nil {
		return from
	}
	columns := []string{"event_id", "received_at", "processed_at", "retry_count", "priority_value"}
	if i.Retry != nil {
		columns = append(columns, "available_at")
	}
	return fmt.Sprintf("(select %s from %s r)", strings.Join(i.named(columns, "r"), ", "), from)
}

// Numbers lists the levels.
func (p Priority) Numbers(indent string) string {
	if p.Any {
		return inserted("array_to_string(v_priority.levels, ', ')")
	}
	return p.listed(indent, func(l Level) string { return fmt.Sprint(l.Level) })
}

// Cursors lists the sequences that hold where the next claim of each level starts.
func (p Priority) Cursors(indent string) string {
	if p.Any {
		return inserted("v_cursors")
	}
	return p.listed(indent, func(l Level) string { return l.Cursor.Regclass() })
}

// CursorNames does so by their names, as the catalog has them.
func (p Priority) CursorNames(indent string) string {
	return p.listed(indent, func(l Level) string { return sqltext.Literal(l.Cursor.Name) })
}

func (p Priority) listed(indent string, text func(Level) string) string {
	items := make([]string, len(p.Levels))
	for n, l := range p.Levels {
		items[n] = text(l)
	}
	return wrappedAt(items, widestLine, indent)
}

// MapJSON is the map as jsonb, in lines that stand at an indentation; null if there is none.
func (p Priority) MapJSON(indent string) string {
	return jsonOf("{", p.Map, "}", indent, func(m Mapped) string { return jsonText(m.Value) + fmt.Sprintf(": %d", m.Level) })
}

// TiersJSON is the same of the tiers, with their schedules and views.
func (p Priority) TiersJSON(indent string) string {
	return jsonOf("[", p.Tiers, "]", indent, func(t Tier) string {
		return fmt.Sprintf(`{"name": %s, "min": %d, "max": %d, "schedule": %s, "view": %s}`, jsonText(t.Tier), t.Min, t.Max, jsonText(t.Every), jsonText(t.View.Name))
	})
}

func jsonOf[T any](opens string, items []T, closes, indent string, text func(T) string) string {
	if len(items) == 0 {
		return "null"
	}
	texts := make([]string, len(items))
	for n, item := range items {
		texts[n] = "\n" + indent + "    " + text(item)
	}
	return sqltext.Literal(opens + strings.Join(texts, ",") + "\n" + indent + closes)
}

func jsonText(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic("a string is always JSON: " + err.Error())
	}
	return string(quoted)
}

// DueSince is when row a became due, or will; the clock of a sender may be ahead of the server's, which delays nothing.
func (i Inbox) DueSince(a string) string {
	arrived := fmt.Sprintf("least(%s, clock_timestamp())", i.In(a, "received_at"))
	if i.Retry == nil {
		return arrived
	}
	return fmt.Sprintf("coalesce(%s, %s)", i.In(a, "available_at"), arrived)
}

// Carries reports whether messages of an inbox bring their priority, or may.
func (i Inbox) Carries() bool { return i.Columns.Priority != "" || i.Any && i.Priority != nil }

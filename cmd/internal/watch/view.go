package watch

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/mattn/go-runewidth"

	"github.com/pgsluice/sluice/cmd/internal/live"
	"github.com/pgsluice/sluice/ivm/diag"
)

const sparkline = 16 // columns of a figure's course

var (
	bold = lipgloss.NewStyle().Bold(true)
	dim  = lipgloss.NewStyle().Faint(true)
	red  = lipgloss.NewStyle().Foreground(lipgloss.Color("1"))
	good = lipgloss.NewStyle().Foreground(lipgloss.Color("2"))
)

// View implements tea.Model. It takes the whole terminal, and gives back what was there.
func (m *model) View() tea.View {
	view := tea.NewView(m.text())
	view.AltScreen = true
	return view
}

// text is what is shown: problems first, then a line for each object, those that are not in order before the others. What does not fit is counted.
func (m *model) text() string {
	e := m.status.Extension
	head := []string{bold.Render(m.cut(fmt.Sprintf("%s %s  schema %s  %s", e.Name, e.Version, e.Schema, m.at.Format(time.TimeOnly))))}
	if m.err != nil {
		head = append(head, red.Render(m.cut("cannot be read: "+firstLine(m.err.Error()))))
	}
	head = append(head, m.problems()...)
	var body []string
	for _, section := range [][]string{m.streamTables(), m.inboxes(), m.outboxes(), m.groups(), m.tasks()} {
		body = append(body, section...)
	}
	foot := dim.Render(m.cut("q quits"))
	room := max(1, m.height-len(head)-1)
	if len(body) > room {
		body = append(body[:room-1], dim.Render(m.cut(fmt.Sprintf("… %s: a higher terminal, or sluice status", diag.Count(len(body)-room+1, "more line")))))
	}
	return strings.Join(append(append(head, body...), foot), "\n")
}

// problems are as many as leave half of the height to the rest.
func (m *model) problems() (lines []string) {
	all := m.status.Problems
	if len(all) == 0 {
		return []string{good.Render("no problems")}
	}
	most := max(1, m.height/4)
	for i, p := range all {
		if i == most {
			lines = append(lines, red.Render(m.cut("… and "+diag.Count(len(all)-most, "more problem"))))
			break
		}
		lines = append(lines, red.Render(m.cut("! "+firstLine(p.Message))), dim.Render(m.cut("  "+firstLine(p.Hint))))
	}
	return lines
}

func (m *model) streamTables() (lines []string) {
	for _, t := range m.status.StreamTables {
		what := fmt.Sprintf("%s, %s old", t.EffectiveMode, live.Age(t.StalenessSeconds))
		if t.Waiting != nil && *t.Waiting > 0 {
			what += fmt.Sprintf(", %d waiting", *t.Waiting)
		}
		lines = append(lines, m.object(t.Name, t.Status, t.Status == "active", what, "staleness "+t.Name))
	}
	return titled("stream tables", lines)
}

func (m *model) inboxes() (lines []string) {
	for _, i := range m.status.Inboxes {
		state := i.Health
		if i.Paused {
			state = "paused"
		}
		what := fmt.Sprintf("%d pending, %s/s", i.Pending, perSecond(m.series.rate("processed "+i.Name)))
		if i.DeadLetters > 0 {
			what += fmt.Sprintf(", %d dead", i.DeadLetters)
		}
		lines = append(lines, m.object(i.Name, state, state == "healthy", what, "pending "+i.Name))
	}
	return titled("inboxes", lines)
}

func (m *model) outboxes() (lines []string) {
	for _, o := range m.status.Outboxes {
		what := fmt.Sprintf("%s, %.1f MB, oldest %s", diag.Count(o.Rows, "row"), float64(o.TotalBytes)/(1<<20), live.Age(o.OldestAgeSeconds))
		lines = append(lines, m.object(o.Name, o.Storage, o.Storage == "ok", what, "rows "+o.Name))
	}
	return titled("outboxes", lines)
}

func (m *model) groups() (lines []string) {
	for _, g := range m.status.Groups {
		state, isGood := "ok", g.Healthy == g.Consumers
		switch {
		case g.Paused:
			state, isGood = "paused", false
		case !isGood:
			state = fmt.Sprintf("%d of %d alive", g.Healthy, g.Consumers)
		case g.Consumers == 0:
			state = "no consumer"
		}
		what := fmt.Sprintf("%d behind, %d leased", g.Lag, g.Leased)
		if g.DeadLetters > 0 {
			what += fmt.Sprintf(", %d dead", g.DeadLetters)
		}
		lines = append(lines, m.object(g.Name, state, isGood, what, "lag "+g.Name))
	}
	return titled("consumer groups", lines)
}

// tasks shows those that failed; the others are one line.
func (m *model) tasks() (lines []string) {
	var latest *float64
	healthy := 0
	for _, t := range m.status.Tasks {
		if t.AgeSec != nil && (latest == nil || *t.AgeSec < *latest) {
			latest = t.AgeSec
		}
		if t.LastError == nil {
			healthy++
		} else {
			lines = append(lines, red.Render(m.cut("  "+t.Task+": "+firstLine(*t.LastError))))
		}
	}
	if healthy > 0 {
		lines = append(lines, dim.Render(m.cut(fmt.Sprintf("  %s in order, last run %s ago", diag.Count(healthy, "task"), live.Age(latest)))))
	}
	return titled("background work", lines)
}

// object is a line: name, state, figures and the course of one of them.
func (m *model) object(name, state string, isGood bool, what, course string) string {
	style := red
	if isGood {
		style = good
	}
	names := max(12, min(32, m.width/3))
	left := fill("  "+name, names) + " " + style.Render(fill(state, 13)) + " "
	room := m.width - names - 15
	if room > sparkline+30 {
		return left + fill(what, room-sparkline-1) + " " + dim.Render(m.series.line(course, sparkline))
	}
	return left + runewidth.Truncate(what, max(0, room), "…")
}

func titled(title string, lines []string) []string {
	if len(lines) == 0 {
		return nil
	}
	return append([]string{bold.Render(title)}, lines...)
}

// fill cuts or pads a text to some columns.
func fill(text string, columns int) string {
	return runewidth.FillRight(runewidth.Truncate(plain(text), columns, "…"), columns)
}

// cut cuts a text at the width of the terminal.
func (m *model) cut(text string) string { return runewidth.Truncate(plain(text), m.width, "…") }

// plain leaves out control characters, which names and errors may hold, and which a terminal would obey.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return -1
		}
		return r
	}, text)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

func perSecond(rate float64) string {
	if rate < 10 {
		return fmt.Sprintf("%.1f", rate)
	}
	return fmt.Sprintf("%.0f", rate)
}

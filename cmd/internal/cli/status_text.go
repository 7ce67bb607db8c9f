package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/pgsluice/sluice/cmd/internal/live"
)

// statusText writes a status for people: tables, then what is wrong.
func statusText(s *live.Status) string {
	var out strings.Builder
	e := s.Extension
	fmt.Fprintf(&out, "extension %s %s (%s) in schema %s, installed %s\n", e.Name, e.Version, e.Flavour, e.Schema, e.InstalledAt.Format(time.DateTime))
	fmt.Fprintf(&out, "runtime of Sluice %s, text %s\n", e.Runtime, e.RuntimeText)
	if len(s.StreamTables) > 0 {
		out.WriteString("\n" + streamTablesTable(s) + "\n")
	}
	if len(s.Inboxes) > 0 {
		out.WriteString("\n" + inboxesTable(s) + "\n")
	}
	if len(s.Outboxes) > 0 {
		out.WriteString("\n" + outboxesTable(s) + "\n")
	}
	if len(s.Groups) > 0 {
		out.WriteString("\n" + groupsTable(s) + "\n")
	}
	if len(s.Gaps) > 0 {
		out.WriteString("\n" + gapsTable(s) + "\n")
	}
	if len(s.Tasks) > 0 {
		out.WriteString("\n" + tasksTable(s) + "\n")
	}
	out.WriteString("\n")
	for _, p := range s.Problems {
		fmt.Fprintf(&out, "%s\n  hint: %s\n", p.Message, p.Hint)
	}
	if len(s.Problems) == 0 {
		out.WriteString("no problems\n")
	}
	return out.String()
}

func streamTablesTable(s *live.Status) string {
	t := statusTable("stream table", "mode", "schedule", "status", "stale for", "rows waiting", "errors")
	for _, r := range s.StreamTables {
		t.AppendRow(table.Row{r.Name, r.EffectiveMode, r.Schedule, r.Status, live.Age(r.StalenessSeconds), count(r.Waiting), r.Errors})
	}
	return right(t, 5, 6, 7)
}

func inboxesTable(s *live.Status) string {
	header := []any{"inbox", "health", "pending", "oldest", "dead letters", "processed"}
	wired := slices.ContainsFunc(s.Inboxes, func(r live.InboxStatus) bool { return r.Quarantined != nil })
	if wired {
		header = append(header, "quarantined")
	}
	t := statusTable(header...)
	for _, r := range s.Inboxes {
		health := r.Health
		if r.Paused {
			health += ", paused"
		}
		row := table.Row{r.Name, health, r.Pending, live.Age(r.OldestPendingAgeSeconds), r.DeadLetters, r.Processed}
		if wired {
			row = append(row, count(r.Quarantined))
		}
		t.AppendRow(row)
	}
	return right(t, 3, 4, 5, 6, 7)
}

func outboxesTable(s *live.Status) string {
	t := statusTable("outbox", "rows", "oldest", "MB")
	for _, r := range s.Outboxes {
		t.AppendRow(table.Row{r.Name, r.Rows, live.Age(r.OldestAgeSeconds), fmt.Sprintf("%.1f", float64(r.TotalBytes)/(1<<20))})
	}
	return right(t, 2, 3, 4)
}

func groupsTable(s *live.Status) string {
	t := statusTable("consumer group", "outbox", "rows behind", "leased", "consumers", "healthy", "dead letters")
	for _, r := range s.Groups {
		t.AppendRow(table.Row{r.Name, r.Outbox, r.Lag, r.Leased, r.Consumers, r.Healthy, r.DeadLetters})
	}
	return right(t, 3, 4, 5, 6, 7)
}

func gapsTable(s *live.Status) string {
	t := statusTable("outbox with a gap", "from id", "it waits for", "open for")
	for _, r := range s.Gaps {
		t.AppendRow(table.Row{r.Outbox, r.FirstID, r.Holder(), live.Age(r.AgeSec)})
	}
	return right(t, 2, 4)
}

func tasksTable(s *live.Status) string {
	t := statusTable("background task", "last run", "runs")
	for _, r := range s.Tasks {
		t.AppendRow(table.Row{r.Task, live.Age(r.AgeSec), r.Runs})
	}
	return right(t, 2, 3)
}

func statusTable(header ...any) table.Writer {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.AppendHeader(header)
	return t
}

// right renders a table with some columns at the right.
func right(t table.Writer, columns ...int) string {
	var configs []table.ColumnConfig
	for _, number := range columns {
		configs = append(configs, table.ColumnConfig{Number: number, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(configs)
	return t.Render()
}

func count(rows *int64) string {
	if rows == nil {
		return "-"
	}
	return fmt.Sprint(*rows)
}

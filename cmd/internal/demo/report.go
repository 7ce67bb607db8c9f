package demo

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Report is the result of a run.
type Report struct {
	Seed       uint64    `json:"seed"`
	Postgres   string    `json:"postgres"`
	Events     int       `json:"events"`
	OutOfOrder int       `json:"out_of_order"`
	Delayed    int       `json:"delayed"`
	Writers    int       `json:"writers"`
	Workers    int       `json:"workers"`
	Seconds    float64   `json:"seconds"`    // from the first send to the last mark
	Throughput float64   `json:"per_second"` // messages processed
	Types      []TypeRow `json:"types"`
	Total      TypeRow   `json:"total"`
	Outbox     TypeRow   `json:"outbox"` // sent: published; received: delivered; duplicates: delivered again
	Consumers  int       `json:"consumers"`
	Losses     []Loss    `json:"losses"`
	Checks     []Check   `json:"checks"`

	ConsumerLosses []Loss `json:"consumer_losses"`
}

// TypeRow is what became of the events of a type.
type TypeRow struct {
	Type string `json:"type,omitempty"`
	Tally
	Outcome
}

// CheckFailed is the error of a run whose checks do not all hold.
type CheckFailed struct{ Checks []Check }

func (e CheckFailed) Error() string {
	names := make([]string, len(e.Checks))
	for i, c := range e.Checks {
		names[i] = c.Name
	}
	return "check failed: " + strings.Join(names, ", ")
}

// Err is CheckFailed, or nil if all checks hold.
func (r *Report) Err() error {
	if failed := Failed(r.Checks); len(failed) > 0 {
		return CheckFailed{failed}
	}
	return nil
}

// WriteJSON writes the report for machines.
func (r *Report) WriteJSON(out io.Writer) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

// WriteText writes the report for people.
func (r *Report) WriteText(out io.Writer) error {
	_, err := fmt.Fprintf(out, "%s\n\n%s\n%s", r.table(), r.summary(), r.verdicts())
	return err
}

func (r *Report) table() string {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.Style().Format.Footer = text.FormatDefault
	t.AppendHeader(table.Row{"event type", "sent", "received", "duplicates", "processed", "retried", "dead letters", "p50 ms", "p99 ms"})
	for _, row := range r.Types {
		t.AppendRow(row.cells(row.Type))
	}
	t.AppendFooter(r.Total.cells("all"))
	t.AppendFooter(r.Outbox.cells(r.Outbox.Type))
	columns := []table.ColumnConfig{}
	for number := 2; number <= 9; number++ {
		columns = append(columns, table.ColumnConfig{Number: number, Align: text.AlignRight, AlignHeader: text.AlignRight, AlignFooter: text.AlignRight})
	}
	t.SetColumnConfigs(columns)
	return t.Render()
}

func (r TypeRow) cells(name string) table.Row {
	return table.Row{name, r.Sent, r.Received, r.Duplicates, r.Processed, r.Retried, r.DeadLetters, millis(r.P50), millis(r.P99)}
}

func millis(ms *float64) string {
	if ms == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f", *ms)
}

func (r *Report) summary() string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-15s %s\n", name, fmt.Sprintf(format, args...))
	}
	line("throughput", "%.0f messages/s: %d processed in %.1f s by %d workers while %d writers sent", r.Throughput, r.Total.Processed, r.Seconds, r.Workers, r.Writers)
	line("latency", "p50 %s ms, p99 %s ms from received to processed, without those delayed, retried or committed late", millis(r.Total.P50), millis(r.Total.P99))
	line("arrivals", "%d events after a later one of their order, %d delayed by their sender", r.OutOfOrder, r.Delayed)
	killed := 0
	for _, loss := range r.Losses {
		if loss.How.Killed() {
			killed++
		}
	}
	line("killed workers", "%d, and %d that rolled back; %d messages were in their transactions", killed, len(r.Losses)-killed, held(r.Losses))
	line("outbox", "%d events published with their effects, to a group of %d consumers; %d killed, holding %d; latency from the start of the publishing transaction",
		r.Outbox.Sent, r.Consumers, len(r.ConsumerLosses), held(r.ConsumerLosses))
	line("server", "PostgreSQL %s, fsync and synchronous_commit on", r.Postgres)
	line("seed", "%d", r.Seed)
	return b.String()
}

func held(losses []Loss) int {
	total := 0
	for _, loss := range losses {
		total += loss.Messages
	}
	return total
}

func (r *Report) verdicts() string {
	width := 0
	for _, c := range r.Checks {
		width = max(width, len(c.Name))
	}
	var b strings.Builder
	for _, c := range r.Checks {
		verdict := "ok"
		if !c.OK {
			verdict = "FAILED"
		}
		fmt.Fprintf(&b, "%-7s %-*s  %s\n", verdict, width, c.Name, c.Detail)
	}
	return b.String()
}

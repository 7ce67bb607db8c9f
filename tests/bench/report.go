package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// report is the result of a run.
type report struct {
	Started   time.Time  `json:"started"`
	Seconds   float64    `json:"seconds"`
	LoadAfter string     `json:"load_average_after"`
	Settings  []setting  `json:"settings"`
	Sections  []*section `json:"sections"`
}

type setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// section is a table of the report.
type section struct {
	Title string `json:"title"`
	Rows  []row  `json:"rows"`
}

// abouts say how to read a section.
var abouts = map[string]string{
	claimSection: "Each transaction claims a batch, marks it and commits; the baseline is a plain table with a partial index, SKIP LOCKED and the same update.",
	leaseSection: "Workers lease a batch, which commits, and mark it in another transaction, by the id of the lease. The baselines: the plain table with row locks, " +
		"and one with a column for the end of a lease, which its workers do the same with.",
	flatSection: "Ten workers, batches of 100, synchronous_commit off. Both sides take turns; between turns the backlog is filled up, and during turns " +
		"a sender adds 2000 messages a second. The old transaction is open from the beginning to the end.",
	insertSection: "INSERT … ON CONFLICT (event_id) DO NOTHING, every tenth message a duplicate; the baseline is a table with the unique key and no other index or trigger.",
	windowSection: "The same inserts into an inbox with dedup_window that remembers a million ids; the baseline is the same inbox without the option. Neither has a scheduler.",
	orderingSection: "An inbox with ordering against one without; of ten thousand aggregates, each message of one in sequence. Neither has a scheduler during a turn. " +
		"For queries the baseline is what the reference asks a plain table with an index on aggregate and number of what is pending.",
	latencySection: "One client; times include the way there and back. One message in 200 is dead. The baseline is what one would ask the plain table, " +
		"which has an index on what is pending; its ratio says how many times as long it takes.",
	healthSection: "Calls of tick() between the cause and the answer degraded.",
	publishSection: "Events published to an outbox, by plain inserts. The baselines: a table with nothing but its key, and the publishing functions of others. " +
		"PGMQ_SQL and PGQUE_SQL name their SQL files; PgQ is used where its extension is installed.",
	consumeSection: "Consumers poll batches and commit them, until four fifths of the backlog are done or the time is up. SKIP LOCKED does both in one transaction; " +
		"PgQ has one consumer, and a tick for each batch.",
	pollSection:  "One client; times include the way there and back.",
	scaleSection: "One spec with many objects: sluice generate as a process; sluice apply over small tables, and ticks in which every stream table is due: the first one of a session, and one with cached plans.",
	tpchSection: "The 22 queries of TPC-H as stream tables in mode auto, against REFRESH MATERIALIZED VIEW. Between two refreshes a share of the orders comes, as many go with their lines, " +
		"and as many rows of lineitem, orders, customer, supplier, part and partsupp are updated. The word behind a query is how its refreshes went.",
	earlierSection: "Calls beside those of an earlier commit, in databases of one server that hold the same; one of each in turn, by one client.",
	tellSection:    "Refreshes of a stream table with an outbox, against one of the same query without; an update counts as two published rows.",
}

func (r *report) add(title string, x row) {
	if n := len(r.Sections); n == 0 || r.Sections[n-1].Title != title {
		r.Sections = append(r.Sections, &section{Title: title})
	}
	last := r.Sections[len(r.Sections)-1]
	last.Rows = append(last.Rows, x)
}

func (r *report) writeJSON(out io.Writer) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

// writeText writes Markdown that is also fit for a terminal.
func (r *report) writeText(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Benchmark of %s\n\n", r.Started.UTC().Format("2006-01-02 15:04 UTC"))
	for _, s := range r.Settings {
		fmt.Fprintf(&b, "- %s: %s\n", s.Name, s.Value)
	}
	fmt.Fprintf(&b, "- took: %.0f s, load average after it: %s\n", r.Seconds, r.LoadAfter)
	b.WriteString("\nMedians with min..max, or with the 95th percentile for times. Ratios are medians of the turns; above 1 ours is better.\n")
	for _, s := range r.Sections {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n%s\n", s.Title, abouts[s.Title], s.table())
	}
	met, all := r.goals()
	fmt.Fprintf(&b, "\n%d of %d goals met.\n", met, all)
	_, err := io.WriteString(out, b.String())
	return err
}

// table is a Markdown table with columns of even width.
func (s *section) table() string {
	t := table.NewWriter()
	style := table.StyleDefault
	style.Box = table.BoxStyle{Left: "|", LeftSeparator: "|", Right: "|", RightSeparator: "|",
		MiddleHorizontal: "-", MiddleSeparator: "|", MiddleVertical: "|", PaddingLeft: " ", PaddingRight: " "}
	style.Options = table.Options{DrawBorder: true, SeparateColumns: true, SeparateHeader: true}
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	t.AppendHeader(table.Row{"", "unit", "ours", "baseline", "ratio", "goal", ""})
	for _, x := range s.Rows {
		t.AppendRow(x.cells())
	}
	var columns []table.ColumnConfig
	for number := 3; number <= 5; number++ {
		columns = append(columns, table.ColumnConfig{Number: number, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(columns)
	// The box above and below is no Markdown.
	lines := strings.Split(t.Render(), "\n")
	return strings.Join(lines[1:len(lines)-1], "\n")
}

func (r *report) goals() (met, all int) {
	for _, s := range r.Sections {
		for _, x := range s.Rows {
			if x.Met != nil {
				all++
				if *x.Met {
					met++
				}
			}
		}
	}
	return met, all
}

func loadAverage() string {
	content, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(content))[:3], " ")
}

package relay

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

const tableSpec = `
version: 1
extension: {name: totals, version: 1.0.0}
schema: [schema.sql]
stream_tables:
  - name: public.totals
    query: |
      SELECT mod(id, 50) AS k, v, count(*) AS n FROM things GROUP BY mod(id, 50), v
    outbox: {inline_threshold_rows: 40, on_full_refresh: %s}
consumer_groups:
  - {name: g, outbox: totals, auto_offset_reset: earliest}
  - {name: h, outbox: totals, auto_offset_reset: earliest}
`

// TestStreamTablePayloads keeps copies by what a relay sends of a stream table: inline and as claim checks, as deltas and as full refreshes, in parts and row by
// row. The copies must equal the table.
func TestStreamTablePayloads(t *testing.T) {
	pgtest.Parallel(t)
	for _, full := range []string{"delta", "snapshot"} {
		t.Run(full, func(t *testing.T) {
			const ddl = "create table things (id int primary key, v text);\n"
			db := pgtest.DB(t)
			db.Exec(t, ddl+"insert into things select i, 'x' || i % 3 from generate_series(1, 30) i")
			extension := installed.Over(t, fmt.Sprintf(tableSpec, full), ddl)
			db.Exec(t, extension.Install(generator.Plain))
			db.Exec(t, extension.Fill())
			path := write(t, db.DSN(), `
  - name: deltas
    from: {outbox: {name: totals, group: g, max_part_rows: 7, poll_every: 50ms}}
    to: {stdout: }
    format: cloudevents
    batch: 5
  - name: rows
    from: {outbox: {name: public.totals, group: h, unit: row, max_part_rows: 7, poll_every: 50ms}}
    to: {stdout: }
    key: '{{ with .Data }}{{ .k }}{{ end }}'
    batch: 11
`)
			r := start(t, path)
			random := rand.New(rand.NewPCG(3, 3))
			for step := range 8 {
				db.Exec(t, fmt.Sprintf("insert into things select i, 'y' || i %% 5 from generate_series(%[1]d, %[1]d + %[2]d) i; delete from things where id %% 11 = %[3]d",
					1000*(step+1), random.IntN(200), random.IntN(11)))
				if step == 4 {
					db.Exec(t, "truncate things; insert into things select i, 'z' from generate_series(1, 100) i")
				}
				if step == 6 {
					r.stop()
					db.Exec(t, "select pgtrickle.disable_outbox('totals'); select pgtrickle.enable_outbox('totals')")
					for _, group := range []string{"g", "h"} { // they went with the outbox
						db.Exec(t, "select pgtrickle.create_consumer_group($1, 'totals', 'earliest')", group)
					}
					r = appended(t, r, start(t, path))
				}
				db.Exec(t, "select pgtrickle.refresh_stream_table('totals')")
				if step == 2 {
					r.kill()
					r = appended(t, r, start(t, path))
				}
			}
			pgtest.Until(t, "nothing lags", func() bool {
				return pgtest.One[int64](t, db, "select sum(lag_rows)::bigint from pgtrickle.pgt_consumer_group_lag") == 0
			})
			r.stop()
			want := tableText(t, db)
			deltas, rows := newCopy(), newCopy()
			for _, line := range lines(t, r.before+r.out.String()) {
				if line["specversion"] != nil {
					deltas.applyDelta(t, line)
				} else {
					rows.applyRow(t, line)
				}
			}
			for name, c := range map[string]*rowCopy{"deltas": deltas, "rows": rows} {
				if got := c.text(); got != want {
					t.Errorf("%s: the copy differs:\n%.1500s\nthe table:\n%.1500s", name, got, want)
				}
			}
		})
	}
}

// appended is a relay that goes on with the output of one that was killed; a line that the kill cut is left out.
func appended(t *testing.T, before, after *running) *running {
	t.Helper()
	old := before.before + before.out.String()
	after.before = old[:strings.LastIndexByte(old, '\n')+1]
	return after
}

// rowCopy holds the rows of a copy and how often each is there. Events that were seen before are left out, as consumers do by their ids.
type rowCopy struct {
	rows map[string]int
	seen map[string]bool
}

func newCopy() *rowCopy { return &rowCopy{rows: map[string]int{}, seen: map[string]bool{}} }

func (c *rowCopy) add(row any, times int) {
	text, _ := json.Marshal(row)
	if c.rows[string(text)] += times; c.rows[string(text)] == 0 {
		delete(c.rows, string(text))
	}
}

func (c *rowCopy) isNew(line map[string]any) bool {
	id := fmt.Sprint(line["id"])
	if c.seen[id] {
		return false
	}
	c.seen[id] = true
	return true
}

// applyDelta applies a part of a refresh.
func (c *rowCopy) applyDelta(t *testing.T, line map[string]any) {
	if !c.isNew(line) {
		return
	}
	data := line["data"].(map[string]any)
	if data["full_refresh"] == true && data["part"] == 1.0 {
		c.rows = map[string]int{}
	}
	deleted, inserted := data["deleted"].([]any), data["inserted"].([]any)
	if len(deleted)+len(inserted) > 7 {
		t.Errorf("a part has %d rows", len(deleted)+len(inserted))
	}
	for _, row := range deleted {
		c.add(row, -1)
	}
	for _, row := range inserted {
		c.add(row, 1)
	}
}

// applyRow applies a changed row.
func (c *rowCopy) applyRow(t *testing.T, line map[string]any) {
	if !c.isNew(line) {
		return
	}
	payload := line["payload"].(map[string]any)
	switch payload["op"] {
	case "T":
		c.rows = map[string]int{}
	case "D":
		c.add(payload["row"], -1)
	case "I":
		c.add(payload["row"], 1)
		if key := fmt.Sprint(payload["row"].(map[string]any)["k"]); line["key"] != key {
			t.Errorf("key %v of a row with k = %s", line["key"], key)
		}
	default:
		t.Errorf("op %v", payload["op"])
	}
}

func (c *rowCopy) text() string {
	var all []string
	for row, times := range c.rows {
		for range times {
			all = append(all, row)
		}
		if times < 0 {
			all = append(all, fmt.Sprintf("%d times %s", times, row))
		}
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// tableText has the rows of a table as a copy shows its.
func tableText(t *testing.T, db *pgtest.Database) string {
	table := newCopy()
	for _, text := range pgtest.Column[string](t, db, "select to_jsonb(t)::text from totals t") {
		var row any
		if err := json.Unmarshal([]byte(text), &row); err != nil {
			t.Fatal(err)
		}
		table.add(row, 1)
	}
	return table.text()
}

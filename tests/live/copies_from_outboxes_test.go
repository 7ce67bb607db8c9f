package live

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/ivm/sqltext"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// replayed are those of changeViews that stand for each way of storing rows and applying changes, and for types.
var replayed = []int{0, 2, 3, 14, 15, 16, 22, 32, 36, 37}

var replayModes = []string{"auto", "differential", "full", "immediate"}

// TestOutboxReplay keeps copies of stream tables by their outboxes alone, in every mode: what comes back from poll_outbox, inline or as claim
// checks, must make each copy equal to its table, whatever is done to the sources, to writing and to the outboxes themselves.
func TestOutboxReplay(t *testing.T) {
	for seed := range pgtest.ShortOrLong(uint64(1), 2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			db := pgtest.DB(t)
			db.Exec(t, changeSchema)
			extension := replaySpec(t)
			db.Exec(t, extension.Install(generator.Plain))
			conn := db.Connect(t)
			r := rand.New(rand.NewPCG(seed, 4))
			run(t, conn, randomRows(r, 12))
			run(t, conn, extension.Fill())
			copies := map[string]*replica{}
			for _, name := range replayTables() {
				copies[name] = newReplica(t, conn, "pgtrickle", "public", name)
			}
			for step := range 6 {
				did := disturb(t, conn, r, copies)
				// The published rows must not depend on how a session shows it.
				run(t, conn, "set bytea_output = escape; set datestyle = 'SQL, DMY'; set extra_float_digits = -5")
				run(t, conn, randomRows(r, 5)+randomChanges(r))
				for _, name := range replayTables() {
					run(t, conn, "select pgtrickle.refresh_stream_table('"+name+"')")
				}
				run(t, conn, "reset bytea_output; reset datestyle; reset extra_float_digits")
				for _, name := range replayTables() {
					copies[name].follow(t, conn)
					copies[name].compare(t, conn, fmt.Sprintf("step %d, %s", step, did))
				}
			}
			if seed == 0 {
				for _, f := range pgtest.Findings(t, db, "pgtrickle") {
					if writesOutboxes.MatchString(f.Function) {
						t.Error(f)
					}
				}
			}
			db.Exec(t, extension.Uninstall())
		})
	}
}

// writesOutboxes matches functions that make outboxes, write to them, and call these.
var writesOutboxes = regexp.MustCompile(`outbox_public_|_outbox\(|_apply\(|_recompute\(|_refresh\(|_attach\(|\.attach\(|\.detach\(|pgt_maintain|after_restore`)

func replayTables() []string {
	var names []string
	for _, n := range replayed {
		for _, mode := range replayModes {
			names = append(names, fmt.Sprintf("v%d_%s", n, mode))
		}
	}
	return names
}

func replaySpec(t *testing.T) *generator.Extension {
	t.Helper()
	text := "version: 1\nextension: {name: replay, version: 1.0.0}\nschema: [schema.sql]\nstream_tables:\n"
	for i, name := range replayTables() {
		n, mode := replayed[i/len(replayModes)], replayModes[i%len(replayModes)]
		options := []string{"inline_threshold_rows: 3, immediate: true", "inline_threshold_rows: 0, immediate: true", "on_full_refresh: snapshot, immediate: true"}[i%3]
		text += fmt.Sprintf("  - name: public.%s\n    refresh_mode: %s\n    outbox: {%s}\n    query: |\n      %s\n", name, mode, options, changeViews[n])
	}
	return installed.Over(t, text, changeSchema)
}

// disturb does something to the outboxes, at times.
func disturb(t *testing.T, conn *pgx.Conn, r *rand.Rand, copies map[string]*replica) string {
	t.Helper()
	name := replayTables()[r.IntN(len(copies))]
	switch r.IntN(4) {
	case 0:
		run(t, conn, "update pgtrickle.pgt_settings set value = 'off' where name = 'outbox_enabled'")
		run(t, conn, randomChanges(r))
		for _, name := range replayTables() {
			run(t, conn, "select pgtrickle.refresh_stream_table('"+name+"')")
		}
		run(t, conn, "update pgtrickle.pgt_settings set value = 'on' where name = 'outbox_enabled'")
		return "writing was off"
	case 1:
		run(t, conn, fmt.Sprintf("select pgtrickle.disable_outbox('%s')", name))
		run(t, conn, randomChanges(r))
		run(t, conn, fmt.Sprintf("select pgtrickle.enable_outbox('%s')", name))
		copies[name] = newReplica(t, conn, "pgtrickle", "public", name)
		return name + " got its outbox again"
	case 2:
		run(t, conn, fmt.Sprintf("update pgtrickle_internal.pgt_stream_table_state set seen = null where stream_table = 'public.%s'", name))
		return "the frontier of " + name + " was given up"
	}
	return "nothing happened"
}

// replica is what a consumer knows of a stream table: its rows, and how often it has each.
type replica struct {
	schema, of, name string // of the extension, of the stream table, and its name
	group            string
	batch            int
	early            bool // it commits before it reads, so that claim checks are kept only because it has not acknowledged them
	late             bool // rows may come that are below what came before, of writers that commit late
	rows             map[string]int
	last             int64
}

func newReplica(t *testing.T, conn *pgx.Conn, schema, of, name string) *replica {
	t.Helper()
	return newReplicaOf(t, conn, schema, of, name, name)
}

// newReplicaOf makes one with a consumer group of its own.
func newReplicaOf(t *testing.T, conn *pgx.Conn, schema, of, name, group string) *replica {
	t.Helper()
	run(t, conn, fmt.Sprintf("select %s.create_consumer_group('%s', '%s', 'earliest')", schema, group, name))
	return &replica{schema: schema, of: of, name: name, group: group, batch: 1000, rows: map[string]int{}}
}

// follow applies all that the group is granted, in order; it returns how many rows of the outbox that were.
func (c *replica) follow(t *testing.T, conn *pgx.Conn) int {
	t.Helper()
	rows, err := conn.Query(t.Context(), fmt.Sprintf("select id, is_claim_check, payload::text, inserted_count, deleted_count from %s.poll_outbox('%s', 'c', %d)", c.schema, c.group, c.batch))
	if err != nil {
		t.Fatal(err)
	}
	published, err := pgx.CollectRows(rows, pgx.RowToStructByPos[outboxRow])
	if err != nil {
		t.Fatal(pgtest.ErrorText(err))
	}
	commit := func() {
		run(t, conn, fmt.Sprintf("select %s.commit_offset('%s', 'c', %d)", c.schema, c.group, published[len(published)-1].ID))
	}
	if len(published) > 0 && c.early {
		commit()
	}
	for _, row := range published {
		c.apply(t, conn, row)
	}
	if len(published) > 0 && !c.early {
		commit()
	}
	return len(published)
}

type outboxRow struct {
	ID                int64
	ClaimCheck        bool
	Payload           string
	Inserted, Deleted int
}

func (c *replica) apply(t *testing.T, conn *pgx.Conn, row outboxRow) {
	t.Helper()
	var payload struct {
		V          int  `json:"v"`
		ClaimCheck bool `json:"claim_check"`
		Full       bool `json:"full_refresh"`
	}
	if err := json.Unmarshal([]byte(row.Payload), &payload); err != nil || payload.V != 1 || payload.ClaimCheck != row.ClaimCheck {
		t.Fatalf("%s: payload %s, %v", c.name, row.Payload, err)
	}
	if row.ID <= c.last && !c.late {
		t.Fatalf("%s: row %d came after %d", c.name, row.ID, c.last)
	}
	c.last = row.ID
	if payload.Full {
		clear(c.rows)
	}
	read := func(key, op string) []string {
		if row.ClaimCheck {
			return pgtest.Column[string](t, conn, fmt.Sprintf(
				"select payload::text from %s.outbox_delta_rows_%s where outbox_id = %d and op = '%s' order by row_num", c.schema, c.name, row.ID, op))
		}
		return pgtest.Column[string](t, conn, fmt.Sprintf(
			"select e::text from %s.outbox_%s o, jsonb_array_elements(o.payload->'%s') e where o.id = %d", c.schema, c.name, key, row.ID))
	}
	deleted, inserted := read("deleted", "D"), read("inserted", "I")
	if len(deleted) != row.Deleted || len(inserted) != row.Inserted {
		t.Errorf("%s: row %d says %d inserted, %d deleted, and has %d, %d", c.name, row.ID, row.Inserted, row.Deleted, len(inserted), len(deleted))
	}
	for _, gone := range deleted {
		if c.rows[gone]--; c.rows[gone] < 0 {
			t.Errorf("%s: row %d deletes %s, which is not there", c.name, row.ID, gone)
		}
		if slices.Contains(inserted, gone) {
			t.Errorf("%s: row %d deletes and inserts %s", c.name, row.ID, gone)
		}
	}
	for _, come := range inserted {
		c.rows[come]++
	}
	if row.ClaimCheck {
		run(t, conn, fmt.Sprintf("select %s.outbox_rows_consumed('%s', %d, '%s')", c.schema, c.name, row.ID, c.group))
	}
}

func (c *replica) compare(t *testing.T, conn *pgx.Conn, when string) {
	t.Helper()
	want := map[string]int{}
	for _, row := range pgtest.Column[string](t, conn, "select to_jsonb(__row)::text from "+sqltext.Qualified(c.of, c.name)+" __row") {
		want[row]++
	}
	for row := range c.rows {
		if c.rows[row] == 0 {
			delete(c.rows, row)
		}
	}
	for row, n := range want {
		if c.rows[row] != n {
			t.Fatalf("%s, %s: %s is there %d times, and %d times in the copy", when, c.name, row, n, c.rows[row])
		}
	}
	for row, n := range c.rows {
		if want[row] == 0 {
			t.Fatalf("%s, %s: the copy has %s %d times", when, c.name, row, n)
		}
	}
}

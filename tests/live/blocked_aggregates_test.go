package live

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestBlockedAggregates counts the blocks that claims, marks and ticks of ordered inboxes read when thousands of aggregates wait: for a number, behind a
// dead letter, or since one of them was processed. It makes no difference how many wait, once ticks have seen them.
func TestBlockedAggregates(t *testing.T) {
	rows := 5_000
	if pgtest.Long() {
		rows = 50_000
	}
	extension := installed.Text(t, `
version: 1
extension: {name: wait, version: 1.0.0}
inboxes:
  - {name: numbered, ordering: {sequence: n}}
  - {name: timed, ordering: {}}
`)
	const insert = "insert into pgtrickle.INBOX (event_id, event_type, aggregate_id, payloadCOLUMN) select 'KIND' || i || ' NUMBER', 't', 'KIND' || i, '{}'VALUE from generate_series(1, %d) i"
	for _, inbox := range []string{"numbered", "timed"} {
		for kind, steps := range map[string][]string{
			"missing":   {"2"},
			"dead":      {"1", "update pgtrickle.INBOX set retry_count = 99 where event_id like '% 1'", "2", "3"},
			"processed": {"1", "3", "update pgtrickle.INBOX set processed_at = now() where event_id like '% 1'"},
		} {
			if inbox == "timed" && (kind == "missing" || kind == "processed") {
				continue
			}
			t.Run(inbox+"/"+kind, func(t *testing.T) {
				db := installed.DB(t, extension)
				conn := db.Connect(t)
				words := func(number string) *strings.Replacer {
					column, value := ", n", ", "+number
					if inbox == "timed" {
						column, value = "", ""
					}
					return strings.NewReplacer("INBOX", inbox, "KIND", kind, "NUMBER", number, "COLUMN", column, "VALUE", value)
				}
				first := blocksOfSteps(t, conn, inbox)
				for _, step := range steps {
					if len(step) == 1 {
						run(t, conn, fmt.Sprintf(words(step).Replace(insert), rows))
						continue
					}
					run(t, conn, words("").Replace(step))
				}
				for range 3 { // the last tick knows that all see what the first has seen
					run(t, conn, "update pgtrickle_internal."+map[string]string{"numbered": "numbered_backlog", "timed": "timed_backlog_by_time"}[inbox]+" set due_at = now() - interval '2 seconds' where is_waiting and due_at < 'infinity'")
					for range 2 + rows/1000 { // as many as listings of a thousand take
						run(t, conn, "call pgtrickle.tick()")
					}
				}
				run(t, conn, "vacuum") // as autovacuum does, which tests do without
				for what, blocks := range blocksOfSteps(t, conn, inbox) {
					t.Logf("%s: %d blocks, %d without those that wait", what, blocks, first[what])
					most := 2*first[what] + 200
					if what == "tick" {
						most += 12_000 // it looks at a thousand entries of the retry queue, and counts to a thousand
					}
					if blocks > most {
						t.Errorf("%s: %d blocks, %d without those that wait", what, blocks, first[what])
					}
				}
			})
		}
	}
}

// blocksOfSteps has 40 messages received, claimed and marked, and says how many blocks each step reads; and a tick, and an empty claim.
func blocksOfSteps(t *testing.T, conn *pgx.Conn, inbox string) map[string]int {
	t.Helper()
	id := pgtest.One[string](t, conn, "select clock_timestamp()::text")
	sequence := map[string]string{"numbered": ", p_sequence => '1'"}[inbox]
	run(t, conn, fmt.Sprintf("select count(pgtrickle.inbox_receive('%s', '%s/' || i, 't', '{}', p_aggregate_id => '%[2]s/' || i%s)) from generate_series(1, 40) i", inbox, id, sequence))
	blocks := map[string]int{}
	count := func(what, sql string) {
		t.Helper()
		blocks[what] = blocksOf(t, conn, sql)
	}
	for range 6 { // plans are made and kept
		run(t, conn, "begin")
		count("claim", fmt.Sprintf("select count(*) from pgtrickle.inbox_claim('%s', 20)", inbox))
		run(t, conn, "rollback")
	}
	for range 2 {
		count("claim and mark", fmt.Sprintf("select pgtrickle.inbox_mark_processed('%s', array(select event_id from pgtrickle.inbox_claim('%[1]s', 20)))", inbox))
	}
	count("empty claim", fmt.Sprintf("select count(*) from pgtrickle.inbox_claim('%s', 20)", inbox))
	least := math.MaxInt
	for range 8 { // the first ones find something new
		count("tick", "select pgtrickle.tick_once()")
		least = min(least, blocks["tick"])
	}
	blocks["tick"] = least
	return blocks
}

// blocksOf runs a query and says how many blocks it and the functions that it calls read.
func blocksOf(t *testing.T, conn *pgx.Conn, sql string) int {
	t.Helper()
	var plan []struct {
		Plan struct {
			Blocks int `json:"Shared Hit Blocks"`
		}
	}
	if err := conn.QueryRow(t.Context(), "explain (analyze, buffers, format json) "+sql).Scan(&plan); err != nil {
		t.Fatalf("%s: %s", sql, pgtest.ErrorText(err))
	}
	return plan[0].Plan.Blocks
}

package live

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestBadStatistics runs what is called all the time while statistics say that tables have a row or two, and they have thousands: in each state of
// messages and events, no statement reads more than some rows for each that it handles, in the plan's nodes, too.
func TestBadStatistics(t *testing.T) {
	rows := 10_000 // below, the planner rather reads all
	if pgtest.Long() {
		rows = 100_000
	}
	extension := installed.Text(t, `
version: 1
extension: {name: thin, version: 1.0.0}
inboxes:
  - {name: plain}
  - {name: keyed, ordering: {sequence: n}}
  - {name: ranked, priority: {tiers: default}}
outboxes:
  - {name: feed}
consumer_groups:
  - {name: work, outbox: feed, auto_offset_reset: earliest}
`)
	for state, load := range map[string]string{
		"pending":   "",
		"delayed":   ", now() + interval '1 day'",
		"due":       ", now() - interval '1 second'",
		"dead":      "",
		"processed": ", now()",
		"failed":    "",
	} {
		if !pgtest.Long() && state != "delayed" && state != "due" {
			continue
		}
		t.Run(state, func(t *testing.T) {
			db := installed.DB(t, extension)
			for _, inbox := range []string{"plain", "keyed", "ranked"} {
				db.Exec(t, fmt.Sprintf("select count(pgtrickle.inbox_receive('%s', 'first ' || i, 't', '{}', p_aggregate_id => 'a' || i%s)) from generate_series(1, 2) i", inbox, map[string]string{"keyed": ", p_sequence => '1'"}[inbox]))
			}
			db.Exec(t, "select count(pgtrickle.inbox_mark_processed(i, c.event_id)) from unnest(array['plain', 'keyed', 'ranked']) i, pgtrickle.inbox_claim(i, 2) c")
			db.Exec(t, "call pgtrickle.tick()")
			db.Exec(t, `do $$
declare
    v_table regclass;
begin
    for v_table in select c.oid from pg_class c where c.relkind = 'r' and c.relnamespace in ('pgtrickle'::regnamespace, 'pgtrickle_internal'::regnamespace) loop
        execute format('analyze %s', v_table);
        execute format('alter table %s set (autovacuum_enabled = off)', v_table);
    end loop;
end $$`)
			column := map[bool]string{true: ", available_at"}[load != ""]
			if state == "processed" {
				column = ", processed_at"
			}
			for inbox, more := range map[string][2]string{"plain": {"", ""}, "keyed": {", n", ", 1"}, "ranked": {"", ""}} {
				db.Exec(t, fmt.Sprintf("insert into pgtrickle.%s (event_id, event_type, payload, aggregate_id%s%s) select 'b' || i, 't', '{}', 'b' || i%s%s from generate_series(1, %d) i",
					inbox, more[0], column, more[1], load, rows))
				switch state {
				case "dead":
					db.Exec(t, "update pgtrickle."+inbox+" set retry_count = 99 where event_id like 'b%'")
				case "failed":
					db.Exec(t, "update pgtrickle."+inbox+" set retry_count = 1, error = 'e', available_at = now() + interval '1 hour' where event_id like 'b%'")
				}
			}
			db.Exec(t, fmt.Sprintf("select count(pgtrickle.outbox_publish('feed', 't', '{}')) from generate_series(1, %d)", rows))

			db.Exec(t, "select pg_sleep(1.1)") // counts are of whole seconds

			reads := explained(t, db)
			for round := range 2 {
				reads(fmt.Sprint("tick ", round), 4*rows, "select pgtrickle.tick_once()")
				for _, inbox := range []string{"plain", "keyed", "ranked"} {
					reads("health of "+inbox, rows, // that came since the last tick
						fmt.Sprintf("select pgtrickle.inbox_health('%s')", inbox))
					reads("status of "+inbox, rows, fmt.Sprintf("select pgtrickle.inbox_status('%s')", inbox))
					reads("claim of "+inbox, 20, fmt.Sprintf("select count(*) from pgtrickle.inbox_claim('%s', 20)", inbox))
					reads("lease of "+inbox, 20, fmt.Sprintf("select count(*) from pgtrickle.inbox_claim_lease('%s', 20)", inbox))
				}
				reads("poll", 100, "select count(*) from pgtrickle.poll_outbox('work', 'c', 100)")
				reads("lag", 1000, "select count(*) from pgtrickle.pgt_consumer_group_lag")
			}
			reads("mark of keyed", rows, "update pgtrickle.keyed set processed_at = now() where processed_at is null")
		})
	}
}

// explained returns a function that runs a statement, in a transaction that is rolled back unless it is a tick, and tells where the nodes of its plans, and of those
// of statements within functions, return, filter or read more than 20 rows and blocks
// for each row that it handles.
func explained(t *testing.T, db *pgtest.Database) func(what string, handles int, sql string) {
	t.Helper()
	config, err := pgx.ParseConfig(db.Server.DSN(db.Name))
	if err != nil {
		t.Fatal(err)
	}
	type node struct {
		Kind    string  `json:"Node Type"`
		On      string  `json:"Relation Name"`
		Index   string  `json:"Index Name"`
		Rows    float64 `json:"Actual Rows"`
		Loops   float64 `json:"Actual Loops"`
		Filter  float64 `json:"Rows Removed by Filter"`
		Join    float64 `json:"Rows Removed by Join Filter"`
		Recheck float64 `json:"Rows Removed by Index Recheck"`
		Blocks  float64 `json:"Shared Hit Blocks"` // of an index in which one of several columns is sought, all entries may be read
		Plans   []node
	}
	var plans []string
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if _, plan, is := strings.Cut(n.Message, "plan:\n"); is {
			plans = append(plans, plan)
		}
	}
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(t.Context()) })
	exec := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s\nin: %s", pgtest.ErrorText(err), sql)
		}
	}
	exec("load 'auto_explain'; set auto_explain.log_analyze = on; set auto_explain.log_buffers = on; set auto_explain.log_timing = off; set auto_explain.log_nested_statements = on; set auto_explain.log_format = json; set client_min_messages = log")
	return func(what string, handles int, sql string) {
		t.Helper()
		plans = nil
		end := "rollback"
		if strings.HasPrefix(what, "tick") {
			end = "commit"
		}
		exec("begin; set local auto_explain.log_min_duration = 0")
		exec(sql)
		exec("set local auto_explain.log_min_duration = -1")
		exec(end)
		for _, text := range plans {
			var p struct {
				Query string `json:"Query Text"`
				Plan  node
			}
			if err := json.Unmarshal([]byte(text), &p); err != nil {
				t.Fatal(err)
			}
			var visit func(node)
			visit = func(n node) {
				if read := (n.Rows+n.Filter+n.Join+n.Recheck)*max(n.Loops, 1) + n.Blocks; read > float64(20*handles+2000) {
					t.Errorf("%s: %s on %s by %s reads %.0f rows and blocks for %d in:\n%.600s", what, n.Kind, n.On, n.Index, read, handles, p.Query)
				}
				for _, under := range n.Plans {
					visit(under)
				}
			}
			visit(p.Plan)
		}
	}
}

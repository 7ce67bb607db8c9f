// Package planner runs whatever a generated extension offers with plans that statistics would lead to sooner or later: no function may rely on the order in
// which a join is computed, or on a condition being looked at before another.
package planner

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const schema = `
create table orders (id int primary key, region text not null, amount numeric not null);
create table customers (id int primary key, region text not null);
`

// Stream tables with an outbox and without one, outboxes of each kind, and all that looks after them.
const spec = `
version: 1
extension: {name: planned, version: 1.0.0, schema: planned}
schema: [schema.sql]
inboxes:
  - {name: letters, retry: {backoff: constant, initial: 1s}}
  - {name: jobs, materialize: true}
outboxes:
  - {name: events}
  - {name: keyed, ordering_key: aggregate_id}
  - {name: parts, segment_rows: 1000}
consumer_groups:
  - {name: shipping, outbox: events, auto_offset_reset: earliest}
  - {name: ledger, outbox: keyed, auto_offset_reset: earliest}
  - {name: copies, outbox: regions, auto_offset_reset: earliest}
stream_tables:
  - name: regions
    outbox: true
    query: |
      select region, sum(amount) as total from orders group by region
  - name: large
    query: |
      select id, amount from orders where amount > 5
  - name: joined
    query: |
      select o.id, c.id as customer from orders o join customers c using (region)
  - name: ranked
    query: |
      select region, rank() over (order by total) as place from regions
  - name: open
    refresh_mode: immediate
    outbox: {immediate: true}
    query: |
      select id, region from orders where amount < 50
  - name: counted
    refresh_mode: immediate
    query: |
      select c.region, count(*) as n from orders o join customers c using (region) group by c.region
`

const fill = `
insert into orders select g, 'r' || g % 7, g from generate_series(1, 60) g;
insert into customers select g, 'r' || g % 5 from generate_series(1, 20) g;
select planned.inbox_receive(i, 'm' || g, 't', '{}') from generate_series(1, 9) g, unnest(array['letters', 'jobs']) i;
select planned.inbox_mark_failed('letters', 'm1', 'no');
select planned.outbox_publish(o, 't', '{}', 'k' || g % 3) from generate_series(1, 9) g, unnest(array['events', 'keyed', 'parts']) o;
select planned.tick_once();
update orders set amount = amount + 1 where id < 20;
update planned_internal.pgt_stream_table_state set checked_at = '-infinity';
select planned.tick_once();
select planned.poll_outbox('shipping', 'a', 2);
select planned.poll_outbox('ledger', 'a', 2);
select planned.reject_rows('shipping', 'a', array(select id from planned.poll_outbox('shipping', 'a', 1)), 'no');
`

// values are what parameters of a name are given, as SQL.
var values = map[string][]string{
	"p_inbox": {"'letters'", "'jobs'"}, "p_event_id": {"'m1'", "'m5'"}, "p_event_ids": {"array['m2', 'm3']"}, "p_event_type": {"'t'"}, "p_payload": {"'{}'"}, "p_error": {"'no'"},
	"p_outbox": {"'events'", "'keyed'", "'parts'", "'planned.regions'", "'planned.large'", "'planned.open'"},
	"p_group":  {"'shipping'", "'ledger'", "'copies'"}, "p_consumer": {"'a'"}, "p_name": {"'regions'", "'large'", "'joined'", "'ranked'", "'open'", "'counted'"},
	"p_stream_table": {"'planned.regions'", "'planned.large'"}, "p_ids": {"array[1, 2]::bigint[]", "'{[1,5)}'::int8multirange"}, "p_last_offset": {"1"}, "p_new_offset": {"0"}, "p_outbox_id": {"1"},
	"p_above": {"0"}, "p_after": {"0", "interval '1 hour'"}, "p_upto": {"100"}, "p_limit": {"5"}, "p_lane": {"1::smallint"}, "p_batch_size": {"5"}, "p_at": {"now()"},
	"p_idle": {"true"}, "p_force": {"true"}, "p_always": {"true"}, "p_now": {"true", "now()"}, "p_before": {"now()"},
}

// plans are settings under which the server joins in another order or by other means. The first of them are tried with each of costs.
var plans = []string{
	"enable_hashjoin = off; enable_mergejoin = off",
	"enable_nestloop = off; enable_mergejoin = off",
	"geqo_threshold = 2; geqo_seed = 0.1",
	"geqo_threshold = 2; geqo_seed = 0.7",
	"enable_nestloop = off; enable_hashjoin = off",
	"enable_seqscan = off; enable_material = off",
	"enable_indexscan = off; enable_bitmapscan = off; enable_indexonlyscan = off",
	"join_collapse_limit = 1; from_collapse_limit = 1",
	"plan_cache_mode = force_custom_plan",
	"plan_cache_mode = force_generic_plan",
}

const forEachCost = 4

// costs make the planner call functions last, or first.
var costs = []string{"cost 1000000000", "cost 0.000001"}

// TestPlans calls every function, and reads every view, of an extension that is empty and one that is filled, with each plan. SLUICE_TEST_LONG=1 tries
// each cost with the first plans, and each plan also after the outbox was disabled; else every fourth cost and every third of these plans is tried, chosen by SLUICE_TEST_SEED.
func TestPlans(t *testing.T) {
	e := installed.Over(t, spec, schema)
	db := pgtest.DB(t)
	db.Exec(t, schema)
	db.Exec(t, e.Install(generator.Plain))
	db.Exec(t, "call planned_internal.pgt_fill()")
	for _, state := range []string{"empty", "filled", "closed"} {
		switch state {
		case "filled":
			db.Exec(t, fill)
		case "closed": // everything is there, but the only stream table with an outbox has none any more
			db.Exec(t, "select planned.disable_outbox('regions')")
		}
		db.Exec(t, "analyze")
		calls := callsOf(t, db)
		if len(calls) < 150 {
			t.Fatalf("only %d calls: %s", len(calls), strings.Join(calls, "\n"))
		}
		for n, plan := range plans {
			if state == "closed" && !pgtest.Chosen(n, 3) {
				continue
			}
			t.Run(state+", "+plan, func(t *testing.T) { run(t, db, plan, calls) })
			if state == "empty" || n >= forEachCost {
				continue
			}
			for m, cost := range costs {
				if !pgtest.Chosen(n+m, 4) {
					continue
				}
				db.Exec(t, alterAll(t, db, cost))
				t.Run(state+", "+plan+", "+cost, func(t *testing.T) { run(t, db, plan, calls) })
			}
			db.Exec(t, alterAll(t, db, "cost 100"))
		}
	}
}

// alterAll says what calling a function costs, of all that may say so.
func alterAll(t *testing.T, db *pgtest.Database, cost string) string {
	return strings.Join(pgtest.Column[string](t, db, "select format('alter function %s %s;', p.oid::regprocedure, $1::text) from pg_proc p where p.pronamespace = 'planned'::regnamespace and p.prokind = 'f'", cost), "\n")
}

// callsOf are the statements: one for each view, and some for each function whose parameters have known values.
func callsOf(t *testing.T, db *pgtest.Database) (calls []string) {
	t.Helper()
	calls = pgtest.Column[string](t, db, "select format('select * from %s', c.oid::regclass) from pg_class c where c.relnamespace = 'planned'::regnamespace and c.relkind = 'v'"+
		" and not exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = '__kept') order by 1") // that one stands for columns that are missing
	type function struct {
		Name       string
		Parameters []string
		Types      []string
		Needed     int
	}
	functions := pgtest.Column[string](t, db, `
		select json_build_object('Name', p.oid::regproc::text, 'Needed', p.pronargs - p.pronargdefaults,
			'Parameters', coalesce(p.proargnames[1:p.pronargs], '{}'), 'Types', array(select format_type(a, null) from unnest(p.proargtypes) a))::text
		from pg_proc p
		where p.pronamespace = 'planned'::regnamespace and p.prokind = 'f' and p.prorettype not in ('trigger'::regtype, 'anyelement'::regtype)
		order by 1`)
	for _, text := range functions {
		var f function
		if err := json.Unmarshal([]byte(text), &f); err != nil {
			t.Fatal(err)
		}
		arguments := []string{""}
		for n := range f.Needed {
			given := values[f.Parameters[n]]
			if f.Types[n] == "planned.pgt_consumer_groups" {
				given = []string{"(select g from planned.pgt_consumer_groups g where g.group_name = 'ledger')"}
			}
			if f.Name == "planned_internal.pgt_outbox_next" && f.Parameters[n] == "p_outbox" { // of ordered outboxes
				given = []string{"'keyed'"}
			}
			given = slices.DeleteFunc(slices.Clone(given), func(v string) bool { return !fits(v, f.Types[n]) })
			var longer []string
			for _, before := range arguments {
				for _, v := range given {
					longer = append(longer, strings.TrimPrefix(before+", "+v, ", "))
				}
			}
			arguments = longer
		}
		for _, a := range arguments {
			calls = append(calls, fmt.Sprintf("select * from %s(%s)", f.Name, a))
		}
		if f.Needed == 0 && len(f.Parameters) > 0 {
			for _, v := range values[f.Parameters[0]] {
				calls = append(calls, fmt.Sprintf("select * from %s(%s)", f.Name, v))
			}
		}
	}
	return calls
}

// fits reports whether a value is of a type: of the types that parameters of one name have.
func fits(value, typ string) bool {
	for _, of := range []string{"int8multirange", "interval", "timestamp with time zone"} {
		if is := strings.Contains(value, of) || value == "now()" && of == "timestamp with time zone"; is || typ == of {
			return is && typ == of
		}
	}
	return true
}

// callAll makes each call in a subtransaction that is rolled back, and reports of those that fail as no caller is to blame for: a name that there is not, a case that
// nobody thought of, a value that does not fit, a fault of the server.
const callAll = `do $do$
declare
    v_call  text;
    v_state text;
    v_error text;
begin
    for v_call in select c from unnest(string_to_array(current_setting('planner.calls'), E'\n')) c loop
        begin
            execute v_call;
            raise exception sqlstate 'DONE0';
        exception when others then
            get stacked diagnostics v_state = returned_sqlstate, v_error = message_text;
            if v_state ~ '^(42P|42703|42883|428|20000|XX|220|22P|54)' and v_state <> '22023' then
                raise warning '% %: %', v_state, v_error, v_call;
            end if;
        end;
    end loop;
end;
$do$`

// run makes the calls with a plan.
func run(t *testing.T, db *pgtest.Database, plan string, calls []string) {
	conn, err := commandtest.ConnectNoticing(t.Context(), db.DSN(), func(n *pgconn.Notice) {
		if n.Severity == "WARNING" && strings.Contains(n.Message, ": select ") {
			t.Error(n.Message)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for _, setting := range append(strings.Split(plan, "; "), "jit = off") { // which would take minutes, and changes no order
		if _, err := conn.Exec(t.Context(), "set "+setting); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := commandtest.ReadStatus(t.Context(), conn, "planned"); err != nil {
		t.Errorf("sluice status: %v", err)
	}
	if _, err := conn.Exec(t.Context(), "select set_config('planner.calls', $1, false)", strings.Join(calls, "\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), callAll); err != nil {
		t.Fatal(pgtest.ErrorText(err))
	}
}

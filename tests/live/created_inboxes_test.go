package live

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/livetest"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

const fromSQL = "version: 1\nextension: {name: sluice_from_sql, version: 1.0.0, imperative: true}\n"

// TestNamesFromSQL is TestNames for inboxes that create_inbox and enable_inbox_tracking make: nothing is left of one that is dropped.
func TestNamesFromSQL(t *testing.T) {
	pgtest.Parallel(t)
	for i, n := range namings {
		if !pgtest.Chosen(i, 5) {
			continue
		}
		t.Run(n.what, func(t *testing.T) {
			extension := installed.Text(t, fmt.Sprintf("version: 1\nextension: {name: %s, version: 1.0.0, schema: %s, imperative: true}\nroles: {consumer: %s}\n",
				n.extension, yaml(n.schema), yaml(n.role)))
			db := pgtest.DB(t)
			db.SuperExec(t, "create role "+quoted(n.role)+"; grant "+quoted(n.role)+" to "+pgtest.Owner)
			defer db.SuperExec(t, "drop owned by "+quoted(n.role)+"; drop role "+quoted(n.role))
			conn := db.Connect(t)
			run(t, conn, "create schema if not exists "+quoted(n.inboxSchema))
			run(t, conn, extension.Install(generator.Plain))
			run(t, conn, n.replacer().Replace("select S.create_inbox('first'); select S.drop_inbox('first', p_cascade => true)"))
			before := leftovers(t, conn)
			lives := func() {
				for _, sql := range pgtest.Split(n.replacer().Replace(life)) {
					if !strings.Contains(sql, "inbox_receive_wire(") {
						run(t, conn, sql)
					}
				}
				n.left(t, conn)
				n.role_(t, conn)
				pgtest.CheckPlpgsql(t, db, quoted(n.schema))
				run(t, conn, n.replacer().Replace("select S.drop_inbox(N, p_cascade => true)"))
			}
			run(t, conn, n.replacer().Replace("select S.create_inbox(N, p_schema => ")+literal(n.inboxSchema)+")")
			lives()
			const table = "create table T (event_id varchar(40) primary key, event_type text not null, payload jsonb not null, received_at timestamptz not null default clock_timestamp(), " +
				"processed_at timestamptz, error text, retry_count integer not null default 0, available_at timestamptz)"
			run(t, conn, n.replacer().Replace(table))
			run(t, conn, n.replacer().Replace("select S.create_inbox('beside'), S.enable_inbox_tracking(N, ")+literal(quoted(n.inboxSchema, n.inbox))+")")
			lives()
			run(t, conn, n.replacer().Replace("drop table T "))
			run(t, conn, n.replacer().Replace(table+" partition by hash (event_id); create table S.a_part partition of T for values with (modulus 1, remainder 0)"))
			run(t, conn, n.replacer().Replace("select S.enable_inbox_tracking(N, ")+literal(quoted(n.inboxSchema, n.inbox))+")")
			lives()
			run(t, conn, n.replacer().Replace("select S.drop_inbox('beside', p_cascade => true)"))
			run(t, conn, n.replacer().Replace("drop table T "))
			if after := leftovers(t, conn); fmt.Sprint(after) != fmt.Sprint(before) {
				t.Errorf("left behind: %q", after)
			}
		})
	}
}

// TestDerivedNamesFromSQL compares the names that the server derives with those of the generator.
func TestDerivedNamesFromSQL(t *testing.T) {
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	var full, want []string
	for range 5000 {
		var name strings.Builder
		for n := random.IntN(75); name.Len() < n; {
			name.WriteString([]string{"a", "é", "€", "🐘", "\"", "'", " ", "_pending"}[random.IntN(8)])
		}
		full, want = append(full, name.String()), append(want, spec.DerivedName(name.String()))
	}
	rows, err := installed.DB(t, installed.Text(t, fromSQL)).Connect(t).Query(t.Context(), "select pgtrickle_internal.pgt_derived_name(f) from unnest($1::text[]) with ordinality u (f, no) order by no", full)
	if err != nil {
		t.Fatal(err)
	}
	got, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("%v: the server derives other names", err)
	}
}

// TestCreatedAtOnce has sessions create, use and drop inboxes of the same few names, some over tables that are there, while ticks run: each creation succeeds
// or meets that there is such an inbox, and nothing else fails but what meets an inbox that is gone.
func TestCreatedAtOnce(t *testing.T) {
	db := installed.DB(t, installed.Text(t, fromSQL))
	for n := range 3 {
		db.Exec(t, fmt.Sprintf(`create table "box %d" (event_id uuid primary key, event_type text not null, payload jsonb not null, received_at timestamptz not null default clock_timestamp(),
			processed_at timestamptz, error text, retry_count integer not null default 0)`, n))
	}
	var working, ticking sync.WaitGroup
	var worked atomic.Bool
	var lock sync.Mutex
	created, tracked := 0, 0
	for n := range 4 {
		conn := db.Connect(t)
		working.Go(func() {
			random := rand.New(rand.NewPCG(uint64(n), uint64(time.Now().UnixNano())))
			enough := func() bool {
				lock.Lock()
				defer lock.Unlock()
				return created >= 3 && tracked >= 3
			}
			for n := 0; n < pgtest.ShortOrLong(20, 300) || !enough() && !t.Failed(); n++ {
				name := fmt.Sprintf("box %d", random.IntN(3))
				sql := []string{
					"select pgtrickle.create_inbox($1)", "select pgtrickle.enable_inbox_tracking($1, quote_ident($1))", "select pgtrickle.drop_inbox($1, p_cascade => true)",
					"insert into public." + quoted(name) + " (event_id, event_type, payload) select gen_random_uuid(), 't', '{}' where $1 <> ''",
					"select pgtrickle.inbox_receive($1, gen_random_uuid(), 't', '{}') from generate_series(1, 3)",
					"select pgtrickle.inbox_mark_processed($1, c.event_id) from pgtrickle.inbox_claim($1, 2) c",
				}[random.IntN(6)]
				_, err := conn.Exec(t.Context(), sql, name)
				lock.Lock()
				if err == nil && strings.Contains(sql, "create_inbox") {
					created++
				} else if err == nil && strings.Contains(sql, "enable") {
					tracked++
				}
				lock.Unlock()
				if err == nil {
					continue
				}
				switch code := pgtest.ErrorText(err); {
				case strings.Contains(code, "(42704)"):
				case (strings.Contains(sql, "create_inbox") || strings.Contains(sql, "enable")) && strings.Contains(code, "inbox already exists"):
				case !strings.Contains(sql, "create_inbox") && !strings.Contains(sql, "enable") && !strings.Contains(sql, "insert into public") && (strings.Contains(code, "(42P01)") || strings.Contains(code, "(42883)")): // dropped meanwhile
				default:
					t.Errorf("%s: %s", sql, code)
				}
			}
		})
	}
	ticker := db.Connect(t)
	ticking.Go(func() {
		for !worked.Load() {
			if _, err := ticker.Exec(t.Context(), "call pgtrickle.tick()"); err != nil {
				t.Errorf("tick: %s", pgtest.ErrorText(err))
			}
		}
	})
	working.Wait()
	worked.Store(true)
	ticking.Wait()
}

// TestContractFromSQL runs scripts of the contract with an inbox that create_inbox makes in the place of the shop's, and with one over a table that is there.
func TestContractFromSQL(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(installed.Shop(), "spec.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	spec, _, found := strings.Cut(strings.Replace(string(text), "  postgres:", "  imperative: true\n  postgres:", 1), "  # Notices of the payment provider")
	if !found || !strings.Contains(spec, "imperative") {
		t.Fatal("the shop's spec has changed")
	}
	shop := installed.Text(t, strings.Replace(spec, "schema: [schema.sql]\n", "", 1))
	created := livetest.Options{Commands: maps.Clone(options.Commands)}
	created.Commands["install"] = func(env *livetest.Env, _ *datadriven.TestData) string {
		return script(env, shop.Install(generator.Plain)+"do $$ begin perform pgtrickle.create_inbox('payments'); end $$;")
	}
	tracked := livetest.Options{Commands: maps.Clone(options.Commands)}
	tracked.Commands["install"] = func(env *livetest.Env, _ *datadriven.TestData) string {
		return script(env, shop.Install(generator.Plain)+`
create table pgtrickle.payments (
    event_id text primary key, event_type text not null, source text, aggregate_id text, payload jsonb not null, received_at timestamptz not null default clock_timestamp(),
    processed_at timestamptz, error text, retry_count integer not null default 0, trace_id text, available_at timestamptz
);
do $$ begin perform pgtrickle.enable_inbox_tracking('payments', 'pgtrickle.payments'); end $$;`)
	}
	for n, name := range []string{"alerts", "claim", "clock", "health", "health_new", "isolation", "mark", "partition_random", "pending", "plain_statements", "prepared", "pause", "receive", "replay", "shared_moment"} {
		if pgtest.Chosen(n, 3) {
			t.Run(name, func(t *testing.T) { livetest.RunFile(t, name+".txtar", created) })
		}
		if pgtest.Chosen(n+1, 3) {
			t.Run("tracked/"+name, func(t *testing.T) { livetest.RunFile(t, name+".txtar", tracked) })
		}
	}
}

package live

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pgsluice/sluice/generator/plan"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm/sqltext"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

const randomTablesDDL = `create table items (id int, kind text, amount numeric, rate float8, doc json, at point, tags text[], data bytea, day date);
create table kinds (kind text, label varchar(20));
create view labelled as select i.*, k.label from items i left join kinds k on k.kind = i.kind;
`

// randomQueries are queries with rows that repeat, values without equality, and all that is recomputed.
var randomQueries = []string{
	"select * from items", "select kind, amount, doc, at from items", "select doc, count(*) over (partition by kind) as n from items", "select distinct kind, rate::text from items",
	"select kind, sum(amount) as total, array_agg(id order by id, amount, rate) as ids, min(day) as first from items group by kind", "select count(*) from items having count(*) > 3",
	"select l.label, l.tags, l.data, l.amount * 1.0 as amount from labelled l", "select i.id, k.label from items i full join kinds k using (kind)",
	"select kind, amount from items order by amount desc nulls last, kind, id, amount::text limit 4", "with recursive t(n) as (select 1 union all select n + 1 from t where n < (select count(*) from items)) select n from t",
	"select kind from items except all select kind from kinds", "select tags[1] as tag, rate / 3 as third from items where exists (select from kinds where kinds.kind = items.kind)",
	"select kind, day, grouping(kind) as level, sum(amount) from items group by grouping sets ((kind), (day), ())", "values (1, 'a'), (1, 'a'), (2, null)",
	"select id, jsonb_array_elements(to_jsonb(tags)) as tag from items", "select null::json as nothing, 0.0::float8 * -1 as zero, 'NaN'::numeric as nan from items",
}

// TestRandomCreatedStreamTables compares stream tables that create_stream_table made with those of a spec in mode full and with their queries, under random statements.
// A refresh writes the true difference.
func TestRandomCreatedStreamTables(t *testing.T) {
	pgtest.Parallel(t)
	seed := uint64(time.Now().UnixNano())
	fmt.Sscan(os.Getenv("SLUICE_TEST_SEED"), &seed)
	random := rand.New(rand.NewPCG(seed, 3))
	text := "version: 1\nextension: {name: sluice_random, version: 1.0.0, imperative: true}\nschema: [schema.sql]\nstream_tables:\n"
	for n, query := range randomQueries {
		text += fmt.Sprintf("  - name: public.given_%d\n    refresh_mode: full\n    query: |\n      %s\n", n, query)
	}
	db := pgtest.DB(t)
	conn := db.Connect(t)
	run(t, conn, randomTablesDDL)
	run(t, conn, installed.Over(t, text, randomTablesDDL).Install("plain"))
	for n, query := range randomQueries {
		if _, err := conn.Exec(t.Context(), "select pgtrickle.create_stream_table($1, $2)", fmt.Sprintf("public.made_%d", n), query); err != nil {
			t.Fatalf("%s: %s", query, pgtest.ErrorText(err))
		}
	}
	for n := range randomQueries {
		run(t, conn, fmt.Sprintf("select pgtrickle.refresh_stream_table('given_%d')", n))
	}
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	row := func() string {
		return fmt.Sprintf("(%s, %s, %s, %s, %s, %s, %s, %s, %s)", pick("1", "2", "3", "null"), pick("'a'", "'b'", "'A'", "''", "null"), pick("1", "1.0", "1.00", "-2", "null", "'NaN'"),
			pick("0", "'-0'", "0.1", "'NaN'", "'infinity'", "null"), pick(`'{"a":1}'`, `'{"a": 1}'`, `'null'`, "null"), pick("'(1,2)'", "'(1,2.5)'", "null"),
			pick("'{}'", "'{a}'", "'{a,null}'", "'[0:1]={a,b}'", "null"), pick(`'\x00'`, "''", "null"), pick("'2026-01-01'", "'infinity'", "null"))
	}
	run(t, conn, fmt.Sprintf("select setseed(%f)", random.Float64()))
	steps := 8
	if pgtest.Long() {
		steps = 150
	}
	for range steps {
		for range 1 + random.IntN(3) {
			switch random.IntN(8) {
			case 0:
				run(t, conn, fmt.Sprintf("delete from items where ctid = any (array(select ctid from items order by random() limit %d))", random.IntN(4)))
			case 1:
				run(t, conn, fmt.Sprintf("update items set amount = %s, rate = %s where ctid = any (array(select ctid from items order by random() limit 3))", pick("1", "1.0", "null"), pick("0", "'-0'", "1")))
			case 2:
				run(t, conn, fmt.Sprintf("insert into kinds values (%s, %s)", pick("'a'", "'b'", "null"), pick("'x'", "'y'", "null")))
			case 3:
				run(t, conn, pick("delete from kinds where label = 'x'", "truncate items", "update items set kind = kind", "delete from kinds", "insert into items select * from items limit 20"))
			default:
				run(t, conn, "insert into items values "+row()+", "+row())
			}
		}
		for n, query := range randomQueries {
			bag := func() map[string]int {
				rows := map[string]int{}
				for _, row := range pgtest.Column[string](t, conn, fmt.Sprintf("select coalesce(m::text, '') from made_%d m", n)) {
					rows[row]++
				}
				return rows
			}
			was := bag()
			wrote := pgtest.Rows(t, conn, fmt.Sprintf("select m.inserted, m.deleted from pgtrickle.refresh_stream_table('given_%d') g, pgtrickle.refresh_stream_table('made_%[1]d') m", n))
			inserted, deleted := 0, 0
			for row, count := range bag() {
				inserted += max(0, count-was[row])
				deleted += max(0, was[row]-count)
				delete(was, row)
			}
			for _, count := range was {
				deleted += count
			}
			if want := fmt.Sprintf("[[%d %d]]", inserted, deleted); fmt.Sprint(wrote) != want {
				t.Errorf("seed %d: %s: a refresh wrote %v, and rows changed by %s", seed, query, wrote, want)
			}
			differ := pgtest.Rows(t, conn, fmt.Sprintf(`select * from (
				(select 'missing', g::text from (%[2]s) g except all select 'missing', m::text from made_%[1]d m) union all (select 'extra', m::text from made_%[1]d m except all select 'extra', g::text from (%[2]s) g)
				union all (select 'given', g::text from given_%[1]d g except all select 'given', m::text from made_%[1]d m)) d`, n, query))
			checked := pgtest.Rows(t, conn, fmt.Sprintf("select missing, extra from pgtrickle.check_stream_table('made_%d')", n))
			if len(differ) > 0 || fmt.Sprint(checked) != "[[0 0]]" {
				t.Fatalf("seed %d: %s: %v, checked %v", seed, query, differ, checked)
			}
		}
	}
}

// tableRefusedInSpec reports whether a spec may not have a stream table of a name.
func tableRefusedInSpec(t *testing.T, name string) bool {
	t.Helper()
	path := filepath.Join(t.TempDir(), "spec.yaml")
	text := "version: 1\nextension: {name: sluice_hostile, version: 1.0.0}\nstream_tables:\n  - name: " + strconv.QuoteToASCII(name) + "\n    query: |\n      select 1 as a\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	specs, errs := spec.Load(path)
	return !errs.Empty() || !plan.Check(specs[0]).Empty()
}

// TestHostileStreamTables gives names and queries to create_stream_table that are refused as in a spec, by a stated error, or become a stream table that shows what its
// query returns and goes without a trace.
func TestHostileStreamTables(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	fmt.Sscan(os.Getenv("SLUICE_TEST_SEED"), &seed)
	random := rand.New(rand.NewPCG(seed, 4))
	db := installed.DB(t, installed.Text(t, "version: 1\nextension: {name: sluice_hostile, version: 1.0.0, imperative: [stream_tables]}\n"))
	conn := db.Connect(t)
	run(t, conn, "create table canary (n int); insert into canary values (1)")
	before := leftovers(t, conn)
	times := 150
	if pgtest.Long() {
		times = 1000
	}
	created := 0
	for n := 0; n < times || created < times/3; n++ {
		if n%40 == 0 {
			conn = db.Connect(t)
		}
		name := hostile(random)
		given := name
		if random.IntN(4) > 0 { // otherwise as it is, whatever that means
			given = quoted(name)
		}
		value, column := hostile(random), strings.NewReplacer("\n", "", "\t", "").Replace(hostile(random))
		if column == "" {
			column = "column"
		}
		query := fmt.Sprintf("select %s::text as %s, n from canary", literal(value), quoted(column))
		bad := random.IntN(5) == 0
		if bad { // it closes brackets, quotes and comments that it did not open
			query = pick(random, "select 1 as a", query) + pick(random, ") q", ") q; drop table canary; select * from (select 1 as a", "; drop table canary", " /*", " */", "'", `"`, "$function$", "; --", ";drop table canary;", "\n) q --") +
				pick(random, "", "; drop table canary; --", " from canary", hostile(random))
		}
		_, err := conn.Exec(t.Context(), "select pgtrickle.create_stream_table($1, $2)", given, query)
		refused := tableRefusedInSpec(t, given)
		if err != nil && !strings.Contains(pgtest.ErrorText(err), "(22023)") && !strings.Contains(pgtest.ErrorText(err), "(42710)") || refused && err == nil {
			t.Fatalf("seed %d: stream table %q, query %q: %v; a spec refuses it: %t", seed, given, query, err, refused)
		}
		if err != nil && !refused && !bad && !strings.Contains(err.Error(), "p_query holds") && !strings.Contains(err.Error(), "its schema does not exist") {
			t.Fatalf("seed %d: stream table %q, query %q: %s", seed, given, query, pgtest.ErrorText(err))
		}
		if err == nil {
			created++
			id := pgtest.One[string](t, conn, "select stream_table from pgtrickle_internal.pgt_created_stream_tables")
			if _, err := conn.Exec(t.Context(), "select pgtrickle.refresh_stream_table($1), pgtrickle.explain_st($1), pgtrickle.get_refresh_history($1), pgtrickle.resume_stream_table($1)", id); err != nil {
				t.Fatalf("seed %d: stream table %q, query %q: %s", seed, given, query, pgtest.ErrorText(err))
			}
			checked := pgtest.Rows(t, conn, "select missing, extra from pgtrickle.check_stream_table("+literal(id)+")")
			if fmt.Sprint(checked) != "[[0 0]]" {
				t.Fatalf("seed %d: stream table %q, query %q: %v", seed, given, query, checked)
			}
			if !bad {
				got := pgtest.Rows(t, conn, "select * from "+pgtest.One[string](t, conn, "select format('%I.%I', pgt_schema, pgt_name) from pgtrickle_internal.pgt_created_stream_tables")+fmt.Sprint(" -- ", n))
				if fmt.Sprint(got) != fmt.Sprint([][]string{{value, "1"}}) {
					t.Fatalf("seed %d: stream table %q, query %q: %q", seed, given, query, got)
				}
			}
			if created%20 == 0 {
				run(t, conn, "select pgtrickle.attach()")
				run(t, conn, "call pgtrickle.tick()")
			}
			if _, err := conn.Exec(t.Context(), "select pgtrickle.drop_stream_table($1)", id); err != nil {
				t.Fatalf("seed %d: stream table %q: %s", seed, given, pgtest.ErrorText(err))
			}
		}
	}
	if rows := pgtest.One[int](t, conn, "select count(*) from canary"); rows != 1 {
		t.Errorf("seed %d: canary has %d rows", seed, rows)
	}
	if after := leftovers(t, conn); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("seed %d: left behind %q", seed, after)
	}
	t.Logf("seed %d: %d created", seed, created)
}

func pick(random *rand.Rand, from ...string) string { return from[random.IntN(len(from))] }

// TestNamesOfCreatedStreamTables is TestNames for stream tables that create_stream_table makes, in extensions and schemas of odd names.
func TestNamesOfCreatedStreamTables(t *testing.T) {
	for i, n := range namings {
		if !pgtest.Chosen(i, 2) {
			continue
		}
		t.Run(n.what, func(t *testing.T) {
			extension := installed.Text(t, fmt.Sprintf("version: 1\nextension: {name: %s, version: 1.0.0, schema: %s, imperative: [stream_tables]}\n", n.extension, yaml(n.schema)))
			db := pgtest.DB(t)
			conn := db.Connect(t)
			run(t, conn, "create schema if not exists "+quoted(n.inboxSchema)+"; create table "+quoted(n.inboxSchema, "source 'of\" %s")+" (a int)")
			run(t, conn, extension.Install("plain"))
			before := leftovers(t, conn)
			id := literal(sqltext.Dotted(n.inboxSchema, n.inbox))
			name, source := literal(quoted(n.inboxSchema)+"."+quoted(n.inbox)), quoted(n.inboxSchema, "source 'of\" %s")
			for _, sql := range []string{
				"select S.create_stream_table(" + name + ", " + literal("select a from "+source) + ")", "insert into " + source + " values (1), (1)",
				"select S.refresh_stream_table(" + id + ")", "alter table " + source + " alter a type text", "select S.create_stream_table('over it', " + literal("select * from "+quoted(n.inboxSchema, n.inbox)) + ")",
				"select S.attach()", "call S.tick()", "select S.refresh_stream_table('over it')",
			} {
				run(t, conn, strings.ReplaceAll(sql, "S.", quoted(n.schema)+"."))
			}
			if got := pgtest.Rows(t, conn, "select a, pg_typeof(a) from "+quoted(n.schema, "over it")); fmt.Sprint(got) != "[[1 text] [1 text]]" {
				t.Errorf("rows: %v", got)
			}
			pgtest.CheckPlpgsql(t, db, quoted(n.schema))
			run(t, conn, "alter table "+source+" alter a type int using a::int; delete from "+source)
			run(t, conn, strings.ReplaceAll("select S.drop_stream_table('over it'), S.drop_stream_table("+id+")", "S.", quoted(n.schema)+"."))
			if after := leftovers(t, conn); fmt.Sprint(after) != fmt.Sprint(before) {
				t.Errorf("left behind: %q", after)
			}
		})
	}
}

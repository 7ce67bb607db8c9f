package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestPulledStreamTablesTakeOver creates stream tables by SQL, with names and queries that are hard to write down, pulls them into the spec, generates and applies it:
// they are the spec's, with the same rows, and nothing differs from what the spec makes.
func TestPulledStreamTablesTakeOver(t *testing.T) {
	db, specs, sluice := pulling(t, "imperative: [stream_tables]}\nartifacts: [migrations]")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(pgtest.ErrorText(err))
		}
	}
	db.Exec(t, "create table public.orders (id bigint primary key, region text, amount numeric); insert into orders select i, 'r' || i % 3, i * 1.5 from generate_series(1, 20) i")
	sluice("apply")
	conn := db.Connect(t)
	tables := []struct{ name, query, mode, schedule string }{
		{"plain", "select * from orders", "full", "1m"},
		{`public."a.b"`, "select id -- a comment: # with 'quotes'\nfrom orders\n\n\nwhere amount > 3 -- the end", "auto", "90s"},
		{`"O'x ""y"""`, "\n   select id,\n\tamount\t\nfrom orders   \n where true", "full", "1s"},
		{"yes", "select 'a\\b %s %1$L ~base~ /*~query~*/ | > {a} [b] é🐘'::text as \"the ''column\", sum(amount) as total from orders", "full", "1.5h"},
		{"- a: b #x", " /* first */ select region, count(*) as n from orders group by region having count(*) > 1", "auto", "100ms"},
		{"1e3", "with t as (select id from orders limit 5)\r\nselect * from t;", "full", "7d"},
		{strings.Repeat("é", 31), "values (1, null::text), (1, null)", "full", "1m"},
	}
	for _, table := range tables {
		_, err := conn.Exec(t.Context(), "select pgtrickle.create_stream_table($1, $2, $3, $4)", table.name, table.query, table.schedule, table.mode)
		must(err)
	}
	rows := func() string {
		t.Helper()
		var all []string
		for _, name := range pgtest.Column[string](t, conn, "select format('%I.%I', pgt_schema, pgt_name) from pgtrickle.pgt_stream_tables order by pgt_name collate \"C\"") {
			all = append(all, name)
			all = append(all, pgtest.Column[string](t, db.Connect(t), "select r::text from "+name+" r order by r::text collate \"C\"")...)
		}
		return strings.Join(all, "\n")
	}
	sluice("diff")
	before := rows()
	must(os.WriteFile(filepath.Join(specs, "created.yaml"), []byte(sluice("spec", "pull")), 0o644))
	sluice("generate")
	sluice("apply")
	if after := rows(); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	if left := pgtest.One[int](t, db, "select count(*) from pgtrickle_internal.pgt_created_stream_tables"); left != 0 {
		t.Errorf("%d stream tables are not the spec's", left)
	}
	modes := pgtest.Rows(t, db, "select effective_mode, count(*) from pgtrickle.pgt_stream_tables group by 1 order by 1")
	if len(modes) != 2 || modes[0][0] != "differential" || modes[0][1] != "2" {
		t.Errorf("modes: %v", modes)
	}
	sluice("diff") // exits 1 if anything differs
	db.Exec(t, "insert into orders values (21, 'r1', 99)")
	db.Exec(t, "update pgtrickle_internal.pgt_stream_table_state set checked_at = '-infinity'")
	db.Exec(t, "call pgtrickle.tick()")
	if wrong := pgtest.Rows(t, db, "select c.stream_table, d.* from pgtrickle_internal.pgt_stream_table_config c, pgtrickle.check_stream_table(c.stream_table) d where (d.missing, d.extra) is distinct from (0, 0)"); len(wrong) > 0 {
		t.Errorf("differ: %v", wrong)
	}
	if text := sluice("spec", "pull", "--schema", "pgtrickle"); !strings.HasSuffix(text, "inboxes: []\n") {
		t.Errorf("pulled again: %s", text)
	}
}

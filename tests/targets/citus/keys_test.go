package citus

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator/plan"
	"github.com/pgsluice/sluice/generator/render"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
	"github.com/pgsluice/sluice/tests/views/oracle/cases"
)

// TestKeys distributes the tables of random views at random. Of each view that is computed key by key then, the rows of a key are those of its query over the rows of
// that key, for all keys; the tables stay on one PostgreSQL.
func TestKeys(t *testing.T) {
	db := pgtest.DB(t)
	conn := db.Connect(t)
	mustRun(t, conn, "set statement_timeout = '10s'")
	last, computed := pgtest.ShortOrLong(15, 1000), 0
	for n := range uint64(last) {
		c := cases.Generate(n+1, cases.Options{Views: 4})
		if !made(t, conn, c) {
			continue
		}
		for _, v := range c.Views {
			for try := range uint64(6) {
				for _, table := range distributed(t, c, c.Truth(v), rand.New(rand.NewPCG(n+1, try))) {
					computed += keyByKey(t, conn, fmt.Sprintf("seed %d, %s", n+1, v.Name), table)
				}
			}
		}
	}
	t.Logf("%d parts of views were compared", computed)
	if computed < 2*last {
		t.Errorf("only %d parts of views were compared", computed)
	}
}

// mustRun runs SQL without parameters.
func mustRun(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatalf("%s\n%s", pgtest.ErrorText(err), sql)
	}
}

// made makes the tables of a case instead of those before.
func made(t *testing.T, conn *pgx.Conn, c *cases.Case) bool {
	mustRun(t, conn, `do $$ declare n name; begin
		for n in select nspname from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema' loop execute format('drop schema %I cascade', n); end loop;
		create schema public;
	end $$; set search_path = public, pg_catalog`)
	_, err := conn.Exec(t.Context(), c.DDL()+c.Inserts(), pgx.QueryExecModeSimpleProtocol)
	return err == nil
}

// distributed is a query over tables that are distributed at random; none if it cannot be computed key by key.
func distributed(t *testing.T, c *cases.Case, query string, r *rand.Rand) []render.Sharded {
	dir := t.TempDir()
	calls := ""
	columns := map[string][]string{}
	for _, tag := range c.Columns() {
		tag = strings.TrimPrefix(tag, "column ")
		at := strings.LastIndex(tag, ".")
		if strings.HasSuffix(tag, `"`) {
			at = strings.LastIndex(tag, `."`)
		}
		columns[tag[:at]] = append(columns[tag[:at]], sqltext.Identifier(tag[at+1:]))
	}
	for _, table := range slices.Sorted(maps.Keys(columns)) {
		name := sqltext.Literal(table)
		if r.IntN(4) == 0 {
			calls += fmt.Sprintf("select create_reference_table(%s);\n", name)
		} else {
			calls += fmt.Sprintf("select create_distributed_table(%s, %s);\n", name, sqltext.Literal(columns[table][r.IntN(len(columns[table]))]))
		}
	}
	for name, text := range map[string]string{
		"schema.sql": c.DDL() + calls,
		"spec.yaml": "version: 1\nextension: {name: oracle, version: 1.0.0, schema: sl, target: citus}\nschema: [schema.sql]\n" +
			"stream_tables:\n  - name: v\n    query: |\n      " + strings.ReplaceAll(query, "\n", "\n      ") + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	specs, errs := spec.Load(filepath.Join(dir, "spec.yaml"))
	if !errs.Empty() {
		t.Fatal(errs)
	}
	problems := &diag.List{}
	tables := plan.Sharded(specs[0], problems)
	if !problems.Empty() {
		return nil
	}
	return tables
}

// keyByKey compares the parts of a view with the view, and returns how many there are.
func keyByKey(t *testing.T, conn *pgx.Conn, what string, v render.Sharded) int {
	var found []string
	for _, s := range v.Sources {
		if s.Column != "" {
			found = append(found, fmt.Sprintf("select %s::text from %s", sqltext.Ident(s.Column), s.Name))
		}
	}
	keys, err := rowsOf(t, conn, "select distinct k from ("+strings.Join(found, " union all ")+") k (k) where k is not null")
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	for _, key := range keys {
		literal := sqltext.Literal(key) + "::" + v.KeyType
		sources := make([]string, len(v.Sources))
		for n, s := range v.Sources {
			sources[n] = fmt.Sprintf("pgt_source%d as (select * from %s s", n+1, s.Name)
			if s.Column != "" {
				sources[n] += fmt.Sprintf(" where s.%s = %s", sqltext.Ident(s.Column), literal)
			}
			sources[n] += ")"
		}
		got, gotErr := rowsOf(t, conn, "with "+strings.Join(sources, ", ")+" select row(q.*)::text from (\n"+strings.ReplaceAll(v.OnShards(), "%%", "%")+"\n) q")
		want, wantErr := rowsOf(t, conn, fmt.Sprintf("select row(q.*)::text from (\n%s\n) q where q.%s = %s", v.Query, sqltext.Ident(v.Key), literal))
		if gotErr != nil || wantErr != nil { // what fails for rows of one key may not fail for others
			if wantErr == nil && strings.Contains(gotErr.Error(), "syntax") {
				t.Errorf("%s: %v\n%s", what, gotErr, v.OnShards())
			}
			return 0
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: key %s has %v, want %v\n%s\n%+v", what, key, got, want, v.Query, v.Sources)
			return 0
		}
	}
	return len(keys)
}

// rowsOf are texts, sorted.
func rowsOf(t *testing.T, conn *pgx.Conn, sql string) ([]string, error) {
	rows, err := conn.Query(t.Context(), sql, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		return nil, err
	}
	texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
	slices.Sort(texts)
	return texts, err
}

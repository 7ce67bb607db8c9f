// Package sources tests what happens to stream tables when the tables that they read are altered, partitioned, replicated or restored.
package sources

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/livetest"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// TestSources runs the scripts of this directory.
func TestSources(t *testing.T) {
	livetest.Run(t, ".", livetest.Options{Commands: map[string]livetest.Command{
		"install": install, "uninstall": uninstall, "replica": replica,
	}})
}

// uninstall FILE removes what install made.
func uninstall(env *livetest.Env, data *datadriven.TestData) string {
	if _, err := env.Session("", "").Conn.Exec(env.T.Context(), installed.Load(env.T, env.Path(data.CmdArgs[0].Key)).Uninstall()); err != nil {
		return pgtest.ErrorText(err) + "\n"
	}
	return ""
}

// replica runs statements as those who apply changes of another server do.
func replica(env *livetest.Env, data *datadriven.TestData) string {
	env.DB.SuperExec(env.T, "set session_replication_role = replica; "+data.Input)
	return ""
}

// install FILE installs the extension of a spec as the owner and fills its stream tables.
func install(env *livetest.Env, data *datadriven.TestData) string {
	extension := installed.Load(env.T, env.Path(data.CmdArgs[0].Key))
	conn := env.Session("", "").Conn
	for _, sql := range []string{extension.Install(generator.Plain), extension.Fill()} {
		if _, err := conn.Exec(env.T.Context(), sql); err != nil {
			return pgtest.ErrorText(err) + "\n"
		}
	}
	return ""
}

// TestVirtualColumns has columns that no trigger sees, which PostgreSQL 18 brought: what reads one is recomputed.
func TestVirtualColumns(t *testing.T) {
	if pgtest.Server(t).Major < 18 {
		t.Log("no virtual columns in this version")
		return
	}
	const schema = "create table items (id int primary key, price int, tax int generated always as (price / 5) virtual);"
	conn := pgtest.DB(t).Connect(t)
	extension := follows(t, schema, `
version: 1
extension: {name: shop, version: 1.0.0}
schema: [schema.sql]
stream_tables:
  - name: public.taxes
    query: |
      SELECT id, tax FROM items
  - name: public.prices
    query: |
      SELECT id, price FROM items
`)
	exec(t, conn, schema, extension.Install(generator.Plain), extension.Fill(), "insert into items (id, price) values (1, 10), (2, 20)")
	refresh(t, conn)
	exec(t, conn, "update items set price = 50 where id = 1")
	refresh(t, conn)
	compare(t, conn, "after an update")
	if got := pgtest.Column[string](t, conn, "select concat_ws(' ', pgt_name, effective_mode, effective_reason) from pgtrickle.pgt_stream_tables order by 1"); len(got) != 2 ||
		got[0] != "prices differential" || got[1] != "taxes full cannot be followed: virtual generated column items.tax at line 8" {
		t.Errorf("%q", got)
	}
	// One that becomes virtual afterwards.
	exec(t, conn, "alter table items drop tax, drop price, add price int generated always as (id * 2) virtual")
	exec(t, conn, "update pgtrickle_internal.pgt_stream_table_state set checked_at = '-infinity'", "call pgtrickle.tick()")
	if got := pgtest.Column[string](t, conn, "select last_error from pgtrickle.pgt_stream_tables where pgt_name = 'prices'"); !strings.Contains(got[0], "is a virtual one") {
		t.Errorf("%q", got)
	}
}

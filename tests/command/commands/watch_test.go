package commands

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

const watchSpec = `
version: 1
extension: {name: watched, version: 1.2.3, schema: looked_at}
schema: [schema.sql]
stream_tables:
  - name: public.shares
    query: |
      select id, 100 / amount as share from orders
  - name: public.big
    query: |
      select id, share from shares where share > 50
`

// rounds is what a watcher prints to: after each look something happens to the database.
type rounds struct {
	texts []string
	then  []func()
}

func (r *rounds) Write(text []byte) (int, error) {
	r.texts = append(r.texts, string(text))
	if n := len(r.texts); n <= len(r.then) {
		r.then[n-1]()
	}
	return len(text), nil
}

// TestWatch looks at a database again and again while it is filled, fails, and is well again, also while nobody can connect.
func TestWatch(t *testing.T) {
	dir := t.TempDir()
	ddl := "create table orders (id int primary key, amount int not null);"
	write(t, dir, "schema.sql", ddl)
	write(t, dir, "spec.yaml", watchSpec)
	db := pgtest.DB(t)
	db.Exec(t, ddl+"insert into orders values (1, 1), (2, 50)")
	db.Exec(t, installed.Load(t, filepath.Join(dir, "spec.yaml")).Install("plain"))
	tick := func(sql string) func() {
		return func() {
			db.Exec(t, sql)
			db.Exec(t, "update looked_at_internal.pgt_stream_table_state set checked_at = '-infinity'")
			db.Exec(t, "call looked_at.tick()")
		}
	}
	out := &rounds{then: []func(){
		tick("call looked_at_internal.pgt_fill()"),
		tick("insert into orders values (3, 0)"),
		tick("delete from orders where id = 3"),
		func() { db.SuperExec(t, "alter role "+pgtest.Owner+" nologin") },
		func() { db.SuperExec(t, "alter role "+pgtest.Owner+" login") },
	}}
	var talk strings.Builder
	status := commandtest.Main([]string{"status", "--schema", "looked_at", "--dsn", db.DSN(), "--watch", "--rounds", "6"}, strings.NewReader(""), out, &talk)
	if status != 0 || talk.String() != "" {
		t.Errorf("exit status %d: %s", status, talk.String())
	}
	expected := [][]string{
		{"watched 1.2.3", "initializing", "stream table public.shares is not filled"},
		{"active"},
		{"stream table public.shares is failing: division by zero", "stream table public.big is stale: comes from public.shares"},
		{"active"},
		{"is not permitted to log in"},
		{"active"},
	}
	if len(out.texts) != len(expected) {
		t.Fatalf("%d looks: %q", len(out.texts), out.texts)
	}
	for n, parts := range expected {
		for _, part := range parts {
			if !strings.Contains(out.texts[n], part) {
				t.Errorf("look %d lacks %q:\n%s", n+1, part, out.texts[n])
			}
		}
	}
	for _, n := range []int{1, 3, 5} {
		for _, part := range []string{"is failing", "is stale", "division"} {
			if strings.Contains(out.texts[n], part) {
				t.Errorf("look %d has %q:\n%s", n+1, part, out.texts[n])
			}
		}
	}
}

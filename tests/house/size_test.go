package house

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// size is how much SQL a spec comes to: lines of its install script, and the objects that the script creates.
type size struct{ lines, objects int }

func (s size) minus(other size) size { return size{s.lines - other.lines, s.objects - other.objects} }

const sizeSchema = `
create table customers (id bigint primary key, name text not null, region text not null);
create table orders (
    id bigint primary key, customer_id bigint not null references customers, status text not null,
    amount numeric not null, placed_at timestamptz not null
);
create table payments (
    id bigint primary key, order_id bigint not null references orders, amount numeric not null, paid_at timestamptz not null
);
`

const (
	voidQuery   = "SELECT o.id, o.amount, o.status FROM orders o WHERE o.status <> 'void'"
	filterQuery = "SELECT id, customer_id, status, amount FROM orders WHERE amount >= 150"
	groupQuery  = "SELECT customer_id, count(*) AS orders, sum(amount) AS amount FROM orders GROUP BY customer_id"
	pathQuery   = "SELECT c.id, o.id AS o, p.id AS p FROM customers c JOIN orders o ON o.customer_id = c.id JOIN payments p ON p.order_id = o.id"
	joinQuery   = "SELECT c.id, c.name, count(*) AS payments, sum(p.amount) AS paid, max(p.paid_at) AS last_paid " +
		"FROM customers c JOIN orders o ON o.customer_id = c.id JOIN payments p ON p.order_id = o.id GROUP BY c.id, c.name"
)

// TestSize keeps generated SQL small enough for review in a pull request.
func TestSize(t *testing.T) {
	const differential, immediate = "differential", "immediate"
	inbox, inboxes := sizeOf(t, "inboxes: [{name: a}]"), sizeOf(t, "inboxes: [{name: a}, {name: b}]")
	outbox := sizeOf(t, "outboxes: [{name: a}]", "consumer_groups: [{name: g, outbox: a}]")
	outboxes := sizeOf(t, "outboxes: [{name: a}, {name: b}]", "consumer_groups: [{name: g, outbox: a}, {name: h, outbox: b}]")
	oneMore := func(mode, first, second string) size {
		return sizeOf(t, "stream_tables:", streamTable("z", mode, first), streamTable("y", mode, second)).
			minus(sizeOf(t, "stream_tables:", streamTable("z", mode, first)))
	}
	// The first inbox and the first outbox were to have 2,000 lines before there were leases of messages, whose attempts are counted and which marks respect, acknowledgements of single rows and calls
	// for many messages. Stream tables were to have 2,000, and 2,200 in immediate mode, before suspend_stream_table, the error of reading one that is not
	// filled, filling and suspending each by itself, and before attach() ran their functions. Each function has a line that sets its search_path.
	for _, row := range []struct {
		what      string
		got, most size
	}{
		{"one inbox", inbox, size{4152, 133}},
		{"one more inbox", inboxes.minus(inbox), size{700, 26}},
		{"one outbox with a group", outbox, size{3964, 115}},
		{"one more outbox with a group", outboxes.minus(outbox), size{200, 12}},
		{"one stream table", sizeOf(t, "stream_tables:", streamTable("z", differential, voidQuery)), size{4705, 117}},
		{"one more filter", oneMore(differential, voidQuery, filterQuery), size{250, 8}},
		{"one more with groups", oneMore(differential, voidQuery, groupQuery), size{280, 8}},
		{"one more of three tables with groups", oneMore(differential, pathQuery, joinQuery), size{450, 8}},
		{"one stream table, immediate", sizeOf(t, "stream_tables:", streamTable("z", immediate, voidQuery)), size{4779, 118}},
		{"one more filter, immediate", oneMore(immediate, voidQuery, filterQuery), size{300, 8}},
		{"one more of three tables with groups, immediate", oneMore(immediate, pathQuery, joinQuery), size{1000, 8}},
	} {
		if row.got.lines > row.most.lines || row.got.objects > row.most.objects {
			t.Errorf("%s: %d lines and %d objects, at most %d and %d", row.what, row.got.lines, row.got.objects, row.most.lines, row.most.objects)
		}
	}
}

func streamTable(name, mode, query string) string {
	return "  - name: " + name + "\n    refresh_mode: " + mode + "\n    query: |\n      " + query
}

var created = regexp.MustCompile(`(?m)^\s*create (?:or replace )?(?:function|procedure|table|view|(?:constraint )?trigger|(?:unique )?index|sequence)\s`)

func sizeOf(t *testing.T, parts ...string) size {
	t.Helper()
	dir := t.TempDir()
	text := "version: 1\nextension: {name: size, version: 1.0.0}\nschema: [schema.sql]\n" + strings.Join(parts, "\n") + "\n"
	for name, content := range map[string]string{"schema.sql": sizeSchema, "size.yaml": text} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	specs, problems := spec.Load(filepath.Join(dir, "size.yaml"))
	if !problems.Empty() {
		t.Fatal(problems)
	}
	extension, problems := generator.Generate(specs[0])
	if !problems.Empty() {
		t.Fatal(problems)
	}
	files, err := extension.Files(extension.Releasing(nil))
	if err != nil {
		t.Fatal(err)
	}
	sql := files["size/migrations/size_1.0.0.up.sql"]
	for n, line := range strings.Split(sql, "\n") {
		if columns := utf8.RuneCountInString(line); columns > sqltext.LineWidth {
			t.Errorf("line %d has %d columns: %.60s", n+1, columns, line)
		}
	}
	return size{strings.Count(sql, "\n"), len(created.FindAllString(sql, -1))}
}

package roles

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// right is a privilege of a kind of roles on objects that differ in the names of inboxes and outboxes only.
type right struct {
	kind, privilege string
	columns         []string            // empty for all
	objects         map[string][]string // by column; by no name where it is for all
}

// rights are those on objects, by their names with placeholders, in the order of the page.
type rights struct {
	names []string
	of    map[string][]*right
}

// placeholders stand for the names in the spec of the test.
var placeholders = []struct {
	name *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`outbox_i3`), "outbox_<feed>"},
	{regexp.MustCompile(`(^|[._])i\d+`), "${1}<inbox>"},
	{regexp.MustCompile(`(^|[._])o\d+`), "${1}<outbox>"},
	{regexp.MustCompile(`(^|[._])s\d+`), "${1}<stream_table>"},
	{regexp.MustCompile(`_t\d+`), "_<tier>"},
	{regexp.MustCompile(`_(claim_cursor|attempts)_\d+`), "_${1}_<number>"},
}

// readRights asks the server for the rights of all logins.
func readRights(t *testing.T, conn *pgx.Conn) rights {
	logins := make([]string, len(kinds))
	for n, kind := range kinds {
		logins[n] = login(kind)
	}
	newer := []string{}
	if pgtest.One[bool](t, conn, "select current_setting('server_version_num')::integer >= 170000") {
		newer = append(newer, "maintain")
	}
	r := rights{of: map[string][]*right{}}
	for _, row := range pgtest.Rows(t, conn, privilegesText, logins, newer) {
		r.add(row[0], row[1], strings.TrimPrefix(row[2], login("")), row[3], row[4], row[5] == "t")
	}
	return r
}

func (r *rights) add(class, object, kind, privilege, column string, isPart bool) {
	name := object
	for _, p := range placeholders {
		name = p.name.ReplaceAllString(name, p.with)
	}
	switch class {
	case "2":
		name = "sequence " + name
	case "3":
		name = "function " + name
	case "4":
		name = "schema " + name
	}
	if !slices.Contains(r.names, name) {
		r.names = append(r.names, name)
	}
	n := slices.IndexFunc(r.of[name], func(g *right) bool { return g.kind == kind && g.privilege == privilege })
	if n < 0 {
		n = len(r.of[name])
		r.of[name] = append(r.of[name], &right{kind: kind, privilege: privilege, objects: map[string][]string{}})
	}
	g := r.of[name][n]
	if !isPart {
		column = ""
	} else if !slices.Contains(g.columns, column) {
		g.columns = append(g.columns, column)
	}
	if !slices.Contains(g.objects[column], object) {
		g.objects[column] = append(g.objects[column], object)
	}
}

// table is the page's table of privileges.
func (r *rights) table() string {
	var out strings.Builder
	out.WriteString("| on | " + strings.Join(kinds, " | ") + " |\n|---" + strings.Repeat("|---", len(kinds)) + "|\n")
	for _, name := range r.names {
		out.WriteString("| `" + name + "`")
		for _, kind := range kinds {
			var cell []string
			for _, g := range r.of[name] {
				if g.kind == kind {
					cell = append(cell, g.String())
				}
			}
			out.WriteString(" | " + strings.Join(cell, ", "))
		}
		out.WriteString(" |\n")
	}
	return out.String()
}

func (g *right) String() string {
	if len(g.columns) == 0 {
		return g.privilege
	}
	return g.privilege + " (" + strings.Join(g.columns, ", ") + ")"
}

// refused runs statements as a login until one fails for a missing right, and returns its number; 0 if none does. Each is rolled back.
const refused = `
create function pg_temp.refused(p_login text, p_statements text[]) returns integer language plpgsql as $$
begin
    for v_no in 1 .. cardinality(p_statements) loop
        begin
            perform set_config('session_authorization', p_login, true);
            execute p_statements[v_no];
            raise exception using errcode = 'P0042';
        exception when insufficient_privilege then
            return v_no;
        when others then
            null;
        end;
    end loop;
    return 0;
end $$;
set client_min_messages = error;
set pg_trickle.tenant = 'acme'`

// everyRightIsNeeded takes each right away and expects that a statement fails that its role may run.
func everyRightIsNeeded(t *testing.T, conn *pgx.Conn, calls []call, r rights) {
	if _, err := conn.Exec(t.Context(), refused); err != nil {
		t.Fatal(err)
	}
	// Where a sequence may not be read, newer servers show no last value rather than an error.
	isShown := pgtest.One[bool](t, conn, "select current_setting('server_version_num')::integer < 160000")
	statements := map[string][]string{}
	for _, c := range calls {
		for _, kind := range c.allowed {
			statements[kind] = append(statements[kind], c.statement)
		}
	}
	for _, name := range r.names {
		all := r.of[name]
		for _, g := range all {
			if slices.ContainsFunc(all, func(other *right) bool { return other.kind == "everybody" && other.privilege == g.privilege }) {
				continue
			}
			if !isShown && g.privilege == "select" && strings.HasPrefix(name, "sequence ") {
				continue
			}
			for column := range g.objects {
				n := refusedWithout(t, conn, statements[g.kind], name, g, column)
				if n == 0 {
					t.Errorf("a %s does not need %s on %s: %s", g.kind, g.privilege, name, column)
					continue
				}
				slices.Reverse(statements[g.kind][:n]) // it may show the next one, too
			}
		}
	}
}

func refusedWithout(t *testing.T, conn *pgx.Conn, statements []string, name string, g *right, column string) (n int) {
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	what, class := g.privilege, "table"
	if column != "" {
		what += " (" + column + ")"
	}
	if first, _, _ := strings.Cut(name, " "); first == "sequence" || first == "function" {
		class = first
	}
	for _, object := range g.objects[column] {
		if _, err := tx.Exec(t.Context(), fmt.Sprintf("revoke %s on %s %s from rights_%s", what, class, strings.TrimSuffix(object, "()"), g.kind)); err != nil {
			t.Fatal(err)
		}
	}
	return pgtest.One[int](t, tx, "select pg_temp.refused($1, $2)", login(g.kind), statements)
}

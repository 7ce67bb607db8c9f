package roles

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/tests/pgtest"
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

// everyRightIsNeeded takes each right away and expects that a statement fails that its role may run.
func everyRightIsNeeded(t *testing.T, conn *pgx.Conn, calls []call, r rights) {
	for _, name := range r.names {
		all := r.of[name]
		for _, g := range all {
			if slices.ContainsFunc(all, func(other *right) bool { return other.kind == "everybody" && other.privilege == g.privilege }) {
				continue
			}
			for column := range g.objects {
				if !isNeeded(t, conn, calls, name, g, column) {
					t.Errorf("a %s does not need %s on %s: %s", g.kind, g.privilege, name, column)
				}
			}
		}
	}
}

func isNeeded(t *testing.T, conn *pgx.Conn, calls []call, name string, g *right, column string) bool {
	what := g.privilege
	if column != "" {
		what += " (" + column + ")"
	}
	on := make([]string, len(g.objects[column]))
	for n, object := range g.objects[column] {
		class, _, _ := strings.Cut(name, " ")
		if class != "sequence" && class != "function" {
			class = "table"
		}
		on[n] = fmt.Sprintf("revoke %s on %s %s from rights_%s;", what, class, strings.TrimSuffix(object, "()"), g.kind)
	}
	for n, c := range calls {
		if !slices.Contains(c.allowed, g.kind) {
			continue
		}
		script := fmt.Sprintf("begin; set local client_min_messages = error; %s set local pg_trickle.tenant = 'acme'; set local session authorization %s; %s; rollback",
			strings.Join(on, " "), login(g.kind), c.statement)
		if sqlstate(t, conn, script, "rollback; reset session authorization") == "42501" {
			copy(calls[1:n+1], calls[:n]) // it may show the next one, too
			calls[0] = c
			return true
		}
	}
	return false
}

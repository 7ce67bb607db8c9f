// Package chaos lets many writers loose on the sources of stream tables and compares these with their queries all the while.
//
// The writers are a role that may write the sources and has no right on anything that was generated. They work on few rows, so that
// they meet; half of their transactions are rolled back. What they do follows from a seed; when they do it does not.
package chaos

import (
	"context"
	_ "embed"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

var (
	//go:embed spec/schema.sql
	schema string
	//go:embed spec/beside.sql
	beside string
	//go:embed spec/views.yaml
	views string
	//go:embed spec/more.yaml
	more string
	//go:embed spec/states.yaml
	states string
)

// Writer is the role of the writers.
const Writer = "chaos_writer"

// MakeWriter makes it, where it is missing.
const MakeWriter = `do $$ begin create role ` + Writer + ` login; exception when duplicate_object then null; end $$`

// Subject is the extension under test, with all of its stream tables in one mode.
type Subject struct {
	Mode      string
	Views     Views
	Extension *generator.Extension
	tables    []table
}

// table is a stream table and the query that it equals.
type table struct{ name, query string }

// Views are some of the stream tables.
type Views string

// The sets of stream tables. In immediate mode all of them at once lock so much that writers do little but wait for each other.
const (
	Joins    Views = "joins"    // joins and groups, and what reads those
	Subtrees Views = "subtrees" // outer joins, tests, windows, first rows, set operations, subqueries
	All      Views = "all"
	Stated   Views = "stated" // these, and some that store groups or rows beside their own
	Kept     Views = "kept"   // those alone
)

// keep reports whether there are some that store groups or rows beside their own.
func (v Views) keep() bool { return v == Stated || v == Kept }

// Load generates the extension.
func Load(t testing.TB, mode string, some Views) *Subject {
	t.Helper()
	yaml := views
	header, _, _ := strings.Cut(views, "  - name: ")
	switch some {
	case Subtrees:
		yaml = header + more
	case Kept:
		yaml = header + states
	case All:
		yaml += more
	case Stated:
		yaml += more + states
	}
	yaml = strings.ReplaceAll(yaml, "    query: |", "    refresh_mode: "+mode+"\n    query: |")
	yaml = strings.ReplaceAll(yaml, "refresh_mode: auto\n    refresh_mode: differential\n", "refresh_mode: auto\n")
	yaml = strings.ReplaceAll(yaml, "refresh_mode: auto\n    refresh_mode: "+mode+"\n", "refresh_mode: "+mode+"\n")
	dir := t.TempDir()
	for name, text := range map[string]string{"schema.sql": schema, "spec.yaml": yaml} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := &Subject{Mode: mode, Views: some, Extension: installed.Load(t, dir)}
	specs, _ := spec.Load(dir)
	for _, each := range specs[0].StreamTables {
		s.tables = append(s.tables, table{each.Relation.Name, each.Query.Text})
	}
	return s
}

// Script installs everything, as the owner.
func (s *Subject) Script() []string {
	return []string{
		schema,
		beside,
		s.Extension.Install(generator.Plain),
		"grant select, insert, update, delete, truncate on all tables in schema public to " + Writer,
		"call chaos_internal.pgt_fill()",
	}
}

// DB is a database of the test's own with everything installed.
func (s *Subject) DB(t testing.TB) *pgtest.Database {
	t.Helper()
	super := pgtest.Connect(t, pgtest.Server(t).DSN("postgres"))
	if _, err := super.Exec(t.Context(), MakeWriter); err != nil {
		t.Fatal(err)
	}
	db := pgtest.DB(t, pgtest.Template(t, "chaos_"+s.Mode+string(s.Views), func(ctx context.Context, conn *pgx.Conn) error {
		return exec(ctx, conn, s.Script()...)
	}))
	db.Exec(t, "call chaos.tick()") // which finds itself in another database, and follows the sources again
	return db
}

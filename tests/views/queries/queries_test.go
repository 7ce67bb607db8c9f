// Package queries asks of many queries whether the server takes each as a view and whether Sluice takes it as a stream table, and keeps those that both
// take: filled, changed at random and compared with their queries.
package queries

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/plan"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
	"github.com/pgsluice/sluice/tests/kit/pgtest/golden"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// TestQueries runs the files of testdata. Each has a database of its own.
//
//	schema             DDL, for the server and for the compiler
//	schema superuser   the same, which the superuser runs, as only it creates base types
//	server             statements that the compiler does not see
//	query [since=N]    what becomes of a query: followed, and by which strategy; recomputed, and why; refused, and at which place, by generate or by
//	                   apply. Since is the first major version whose parser and functions have all of it.
//	keep [rounds=N]    makes stream tables of all queries that were accepted, in auto mode, and of those that are followed in immediate mode, too;
//	                   changes the tables at random, refreshes and compares. It says what is wrong.
func TestQueries(t *testing.T) {
	if golden.Update() {
		flag.Set("rewrite", "true")
	}
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		pgtest.Parallel(t)
		f := &file{t: t, db: pgtest.DB(t)}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "schema":
				if d.HasArg("superuser") {
					f.db.SuperExec(t, d.Input)
				} else {
					f.db.Exec(t, d.Input)
				}
				f.schema += d.Input + "\n"
				return ""
			case "server":
				f.db.SuperExec(t, d.Input)
				return ""
			case "query":
				since := 0
				d.MaybeScanArgs(t, "since", &since)
				if f.db.Server.Major < since {
					return d.Expected
				}
				return f.query(t, d.Input)
			case "keep":
				rounds := 2
				if pgtest.Long() {
					rounds = 6
				}
				d.MaybeScanArgs(t, "rounds", &rounds)
				return f.keep(t, rounds)
			}
			d.Fatalf(t, "unknown command %s", d.Cmd)
			return ""
		})
	})
}

// file is what a file has said so far.
type file struct {
	t      *testing.T
	db     *pgtest.Database
	asks   *pgx.Conn
	schema string
	taken  []query
}

// conn is a session that is kept for questions.
func (f *file) conn(t *testing.T) *pgx.Conn {
	if f.asks == nil {
		f.asks = f.db.Connect(t, "default_query_exec_mode=simple_protocol")
	}
	return f.asks
}

// query is one that both sides take.
type query struct {
	text     string
	followed bool
}

// specOf writes a spec whose stream tables are queries, and loads it.
func (f *file) specOf(t *testing.T, schema, mode string, queries ...string) (*spec.Spec, *diag.List) {
	t.Helper()
	dir := t.TempDir()
	var text strings.Builder
	fmt.Fprintf(&text, "version: 1\nextension: {name: q_%[1]s, version: 1.0.0, schema: %[1]s}\nschema: [schema.sql]\nstream_tables:\n", schema)
	for n, q := range queries {
		fmt.Fprintf(&text, "  - name: %s.q%d\n    refresh_mode: %s\n    schedule: 1h\n    query: |2\n      %s\n", schema, n+1, mode, strings.ReplaceAll(q, "\n", "\n      "))
	}
	for name, content := range map[string]string{"spec.yaml": text.String(), "schema.sql": f.schema} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	specs, errs := spec.Load(filepath.Join(dir, "spec.yaml"))
	if !errs.Empty() {
		return nil, errs
	}
	return specs[0], errs
}

// generate compiles stream tables of queries.
func (f *file) generate(t *testing.T, schema, mode string, queries ...string) (*generator.Extension, *diag.List) {
	t.Helper()
	s, errs := f.specOf(t, schema, mode, queries...)
	if !errs.Empty() {
		return nil, errs
	}
	e, errs := generator.Generate(s)
	if !errs.Empty() && errs.Without(plan.KnownByServer...).Empty() { // apply asks the database then
		s.Pulled = true
		return generator.Generate(s)
	}
	return e, errs
}

// immediate reports whether a query that is followed can be so in immediate mode.
func (f *file) immediate(t *testing.T, query string) bool {
	t.Helper()
	s, errs := f.specOf(t, "one", spec.RefreshImmediate, query)
	if errs.Empty() {
		names := plan.Trace(s, nil, errs)
		plan.Of(names.Spec, names, errs)
	}
	return !slices.ContainsFunc(errs.Errors(), func(e diag.Error) bool { return e.Code == "not-incremental" }) // others follow more: queries that read themselves
}

// query asks the server and the compiler.
func (f *file) query(t *testing.T, text string) string {
	_, refused := f.conn(t).Exec(t.Context(), "begin; create temp view asked as "+text+"\n; rollback")
	f.conn(t).Exec(t.Context(), "rollback")
	e, errs := f.generate(t, "one", spec.RefreshAuto, text)
	if !errs.Empty() {
		said := "refused: " + problems(errs)
		if refused == nil && !slices.ContainsFunc(errs.Errors(), func(e diag.Error) bool { return e.Code == "volatile" || e.Code == "not-a-view" }) {
			said += "the server takes it\n"
		}
		return said
	}
	if _, err := commandtest.Script(t.Context(), f.conn(t), e, commandtest.ApplyOptions{}); err != nil {
		wrong, ok := err.(*diag.List)
		if !ok {
			t.Fatal(pgtest.ErrorText(err))
		}
		said := "refused by apply: " + problems(wrong)
		if refused == nil {
			said += "the server takes it\n"
		}
		return said
	}
	if refused != nil {
		return "taken, but the server says " + pgtest.ErrorText(refused) + "\n"
	}
	mode, strategy, reason := e.Maintained(0)
	f.taken = append(f.taken, query{text, strategy != "recompute" && f.immediate(t, text)})
	if strategy == "recompute" {
		return "recomputed: " + strings.TrimPrefix(reason, "cannot be followed: ") + "\n"
	}
	return "followed: " + mode + ", " + strategy + "\n"
}

// problems lists errors, each with its place in the query.
func problems(errs *diag.List) string {
	var out strings.Builder
	for _, e := range errs.Errors() {
		place := fmt.Sprintf("%d:%d", e.Line-firstLine, e.Col-indent)
		if filepath.Base(e.File) != "spec.yaml" {
			place = fmt.Sprintf("%s:%d:%d", filepath.Base(e.File), e.Line, e.Col)
		}
		fmt.Fprintf(&out, "%s: %s [%s]\n", place, e.Message, e.Code)
	}
	return out.String()
}

// Where the queries of specOf begin, for the first one.
const (
	firstLine = 8
	indent    = 6
)

//go:build regress

package queries

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/ivm"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
	"github.com/pgsluice/sluice/ivm/sqltext/ddl"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestRegress runs scripts of PostgreSQL's own regression tests, which SLUICE_TEST_REGRESS names a directory of, and asks of each query in them the
// server, by CREATE VIEW, and the compiler whether they take it. It prints where they disagree.
func TestRegress(t *testing.T) {
	dir := os.Getenv("SLUICE_TEST_REGRESS")
	files, _ := filepath.Glob(filepath.Join(dir, cmp.Or(os.Getenv("SLUICE_TEST_FILES"), "*")+".sql"))
	if len(files) == 0 {
		t.Fatalf("no scripts in %q", dir)
	}
	setup, err := os.ReadFile(filepath.Join(dir, "test_setup.sql"))
	if err != nil {
		t.Fatal(err)
	}
	total := counts{}
	for _, file := range files {
		script, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		db := pgtest.DB(t)
		s := &regress{conn: pgtest.Connect(t, db.SuperDSN("default_query_exec_mode=simple_protocol", "statement_timeout=10s")), known: catalog.New(), name: filepath.Base(file)}
		if s.name != "test_setup.sql" {
			s.run(t.Context(), string(setup))
		}
		s.asks = true
		s.run(t.Context(), string(script))
		s.conn.Close(context.Background())
		fmt.Printf("== %s: %v\n%s", s.name, s.counts, s.out.String())
		total.add(s.counts)
	}
	fmt.Printf("== all: %v\n", total)
}

type counts struct{ queries, both, neither, refused, accepted, shapes, volatile, panics, open int }

func (c *counts) add(o counts) {
	c.queries += o.queries
	c.both += o.both
	c.neither += o.neither
	c.refused += o.refused
	c.accepted += o.accepted
	c.shapes += o.shapes
	c.volatile += o.volatile
	c.panics += o.panics
	c.open += o.open
}

func (c counts) String() string {
	return fmt.Sprintf("%d queries, %d taken by both, %d by neither, %d refused wrongly, %d taken wrongly, %d other columns, %d volatile, %d panics, %d open",
		c.queries, c.both, c.neither, c.refused, c.accepted, c.shapes, c.volatile, c.panics, c.open)
}

type regress struct {
	conn  *pgx.Conn
	known *catalog.Catalog
	name  string
	asks  bool
	out   strings.Builder
	counts
}

func (s *regress) run(ctx context.Context, script string) {
	for _, statement := range ddl.Statements(script) {
		if s.asks && isQuery(statement) {
			s.ask(ctx, statement)
		}
		limited, cancel := context.WithTimeout(ctx, 20*time.Second)
		_, err := s.conn.Exec(limited, statement)
		cancel()
		if s.conn.IsClosed() {
			fmt.Fprintf(&s.out, "-- connection lost at: %s\n", statement)
			return
		}
		if err == nil {
			s.known.AddDDL(diag.WholeFile("schema.sql", statement+";"))
		}
	}
}

func isQuery(statement string) bool {
	word := strings.ToLower(strings.TrimLeft(statement, "( \n\t"))
	return slices.ContainsFunc([]string{"select", "with", "values", "table "}, func(w string) bool { return strings.HasPrefix(word, w) })
}

func (s *regress) ask(ctx context.Context, query string) {
	s.queries++
	open, end := "begin", "rollback"
	if s.conn.PgConn().TxStatus() == 'E' {
		return
	}
	if s.conn.PgConn().TxStatus() == 'T' {
		open, end = "savepoint ask", "rollback to ask; release ask"
	}
	if _, err := s.conn.Exec(ctx, open); err != nil {
		return
	}
	_, refused := s.conn.Exec(ctx, "create temp view asked_ as "+query)
	var names, types []string
	if refused == nil {
		rows, err := s.conn.Query(ctx, "select attname::text, format_type(atttypid, atttypmod) from pg_attribute where attrelid = 'pg_temp.asked_'::regclass and attnum > 0 order by attnum")
		if err == nil {
			for rows.Next() {
				var name, typ string
				rows.Scan(&name, &typ)
				names, types = append(names, name), append(types, typ)
			}
			rows.Close()
		}
	}
	s.conn.Exec(ctx, end)

	view, errs := s.compile(query)
	for n := 0; n < 5 && s.learn(ctx, errs); n++ {
		view, errs = s.compile(query)
	}
	said := strings.Split(errs.Error(), "\n")[0]
	switch {
	case strings.HasPrefix(said, "panic"):
		s.panics++
		s.report("PANIC", query, said)
	case refused == nil && !errs.Empty():
		if expected(errs) {
			s.volatile++
			return
		}
		s.refused++
		s.report("REFUSED", query, said)
	case refused != nil && errs.Empty():
		s.accepted++
		s.report("TAKEN", query, pgtest.ErrorText(refused))
	case refused != nil:
		s.neither++
	default:
		s.both++
		s.compare(view, query, names, types)
	}
}

var unknown = regexp.MustCompile(`relation "([^"]+)" does not exist`)

// learn gives the compiler tables that CREATE TABLE AS and the like have made.
func (s *regress) learn(ctx context.Context, errs *diag.List) bool {
	learned := false
	for _, e := range errs.Errors() {
		name := unknown.FindStringSubmatch(e.Message)
		if name == nil {
			continue
		}
		var ddl string
		err := s.conn.QueryRow(ctx, `select format('create %s %I.%I (%s)', case when n.nspname like 'pg_temp%' then 'table' else 'table' end,
			case when n.nspname like 'pg_temp%' then 'pg_temp' else n.nspname end, c.relname,
			(select string_agg(format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod)), ', ' order by a.attnum) from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped))
			from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = to_regclass($1)`, name[1]).Scan(&ddl)
		if err == nil {
			learned = s.known.AddDDL(diag.WholeFile("schema.sql", ddl+";")).Empty() || learned
		}
	}
	return learned
}

// expected reports that a query is refused for what no stored result can follow.
func expected(errs *diag.List) bool {
	for _, e := range errs.Errors() {
		if e.Code != "volatile" && e.Code != "not-a-view" {
			return false
		}
	}
	return true
}

func (s *regress) compile(query string) (view *ivm.Plan, errs *diag.List) {
	errs = &diag.List{}
	defer func() {
		if r := recover(); r != nil {
			errs = &diag.List{}
			errs.Add(diag.Error{Message: fmt.Sprint("panic: ", r)})
			errs = panicked(fmt.Sprint(r))
		}
	}()
	view = ivm.Compile(query, diag.WholeFile("q", query).Pos, s.known, errs)
	if view != nil {
		seen := map[string]bool{}
		for _, o := range view.Output {
			if seen[o.Name] || o.Type == sqltext.Record {
				errs.Add(diag.Error{Message: "duplicate or record"})
			}
			seen[o.Name] = true
		}
	}
	return view, errs
}

func panicked(what string) *diag.List {
	errs := &diag.List{}
	errs.Add(diag.Error{Pos: diag.Pos{File: "panic"}, Message: what})
	return errs
}

func (s *regress) compare(view *ivm.Plan, query string, names, types []string) {
	var got []string
	for i, o := range view.Output {
		got = append(got, o.Name)
		typ := o.Type
		if i < len(types) && typ != "" && typ != types[i] && sqltext.Unsized(typ) != sqltext.Unsized(types[i]) && !(typ == "record") {
			s.report("TYPE", query, fmt.Sprintf("%s is %s, taken for %s", o.Name, types[i], typ))
		}
	}
	if view.Open != nil {
		s.open++
		s.report("OPEN", query, fmt.Sprint(names))
		return
	}
	if !slices.Equal(got, names) {
		s.shapes++
		s.report("COLUMNS", query, fmt.Sprintf("has %v, taken for %v", names, got))
	}
}

func (s *regress) report(what, query, why string) {
	fmt.Fprintf(&s.out, "-- %s: %s\n%s;\n", what, why, query)
}

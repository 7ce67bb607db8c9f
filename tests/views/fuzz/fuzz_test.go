// Package fuzz gives the generator specs, DDL and queries of any kind: it may refuse them, at a place, and must not panic.
//
//	go test ./tests/views/fuzz                                   # the seeds, and some generated queries
//	go test -fuzz FuzzQuery -fuzztime 10m ./tests/views/fuzz     # others; also FuzzDDL and FuzzSpec
//	SLUICE_TEST_CASES=5000 go test -run TestGenerated ./tests/views/fuzz
package fuzz

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/plan"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// modes are the refresh modes that are tried.
var modes = []string{spec.RefreshAuto, spec.RefreshDifferential, spec.RefreshImmediate, spec.RefreshFull}

// schema is the DDL that fuzzed queries read.
const schema = `create table dept (id int primary key, name text not null, region text);
create table emp (id int primary key, name text, dept int, salary numeric(10,2), tags text[], doc jsonb, boss int, hired date);
create table events (kind text, emp int, val int);
create type pair as (a int, b text);
create table boxed (id int primary key, p pair, ps pair[]);
create table nothing ();
create view paid as select id, name from emp where salary > 10;
create materialized view totals as select dept, sum(salary) as total from emp group by dept;
create function reads(int) returns bigint language sql stable as 'select count(*) from emp where dept = $1';
create function steps(n int) returns int language plpgsql stable as $$ begin return n + 1; end $$;
create aggregate most(int) (sfunc = int4larger, stype = int);
create table parted (id int, at date) partition by range (at);
create table parted1 partition of parted for values from ('2024-01-01') to ('2025-01-01');
`

// FuzzQuery gives the generator a query in each mode.
func FuzzQuery(f *testing.F) {
	for i, q := range queriesOf(f) {
		if pgtest.Chosen(i, 12) {
			f.Add(q, byte(i))
		}
	}
	f.Fuzz(func(t *testing.T, query string, mode byte) {
		generate(t, t.TempDir(), spell(modes[int(mode)%len(modes)], query), schema)
	})
}

// FuzzDDL gives the generator DDL, and a query of all that it makes.
func FuzzDDL(f *testing.F) {
	for _, ddl := range scripts(f) {
		f.Add(ddl, "dept")
	}
	f.Fuzz(func(t *testing.T, ddl, table string) {
		for _, mode := range modes {
			generate(t, t.TempDir(), spell(mode, "select * from "+table), ddl)
		}
	})
}

// FuzzSpec gives the generator a spec.
func FuzzSpec(f *testing.F) {
	for _, text := range specs(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		generate(t, t.TempDir(), text, schema)
	})
}

// spell is a spec with one stream table.
func spell(mode, query string) string {
	return fmt.Sprintf("version: 1\nextension: {name: fuzz, version: 1.0.0}\nschema: [schema.sql]\nstream_tables:\n  - name: public.fuzzed\n    refresh_mode: %s\n    query: |2\n      %s\n",
		mode, strings.ReplaceAll(query, "\n", "\n      "))
}

// generate does what sluice generate and sluice explain do with a spec. Each problem must have a place.
func generate(t *testing.T, dir, text, ddl string) {
	t.Helper()
	for name, content := range map[string]string{"spec.yaml": text, "schema.sql": ddl} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	loaded, errs := spec.Load(filepath.Join(dir, "spec.yaml"))
	for _, s := range loaded {
		if !errs.Empty() {
			placed(t, dir, plan.Check(s))
			continue
		}
		e, problems := generator.Generate(s)
		placed(t, dir, problems)
		if !problems.Empty() {
			continue
		}
		if _, err := e.Files(nil); err != nil {
			t.Fatal(err)
		}
		for _, table := range s.StreamTables {
			for _, format := range []string{"text", "svg"} {
				if _, _, _, err := generator.Explain(s, table.Name, "", format); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	placed(t, dir, errs)
}

func placed(t *testing.T, dir string, errs *diag.List) {
	t.Helper()
	_ = errs.String()
	for _, e := range errs.Errors() {
		if !strings.HasPrefix(e.File, dir) {
			t.Errorf("%v stands nowhere", e)
		}
	}
}

var queryBlock = regexp.MustCompile(`(?ms)^query[^\n]*\n(.*?)\n----$`)

// queriesOf are those of the live tests and of the parser's.
func queriesOf(f testing.TB) []string {
	var all []string
	for _, file := range files(f, "../queries/testdata/*") {
		for _, found := range queryBlock.FindAllStringSubmatch(file, -1) {
			all = append(all, found[1])
		}
	}
	for _, file := range files(f, "../../../ivm/sqltext/testdata/corpus.sql") {
		all = append(all, strings.Split(file, ";\n")...)
	}
	all = append(all, files(f, "testdata/queries/*")...)
	return all
}

// scripts are those of the catalog's tests.
func scripts(f *testing.F) []string {
	return append(files(f, "../../../ivm/catalog/testdata/dumps/*.sql"), schema, "create table dept ();", "create view dept as select * from dept;", "create view dept as table dept;")
}

func specs(f *testing.F) []string {
	return append(files(f, "../../../specs/*/spec.yaml"), append(files(f, "../../../generator/spec/testdata/everything.yaml"), spell("auto", "select 1 as a"))...)
}

func files(f testing.TB, pattern string) []string {
	paths, err := filepath.Glob(pattern)
	if err != nil {
		f.Fatal(err)
	}
	var all []string
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		all = append(all, string(content))
	}
	return all
}

package house

import (
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"go.yaml.in/yaml/v3"

	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm/sqltext"
	"github.com/pgsluice/sluice/tests/kit/installed"
)

// artifacts are all that a spec can ask for.
var artifacts = []string{spec.ArtifactExtension, spec.ArtifactMigrations, spec.ArtifactJobs, spec.ArtifactDBT, spec.ArtifactOps, "goose", "flyway", "sqitch"}

// Nothing that is generated looks up a name along the search_path of whoever runs it: everybody who may create in a schema of that path could have code
// of his own run with the caller's rights. The specs are those of testdata/ordinary.txtar.
func TestNothingDependsOnTheSearchPath(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/ordinary.txtar")
	if err != nil {
		t.Fatal(err)
	}
	ddl := string(archive.Files[0].Data)
	for _, file := range archive.Files[1:] {
		t.Run(strings.TrimSuffix(file.Name, ".yaml"), func(t *testing.T) {
			t.Parallel()
			extension := installed.Over(t, string(file.Data), ddl)
			files, err := extension.FilesOf(artifacts, extension.Releasing(nil))
			if err != nil {
				t.Fatal(err)
			}
			objects, err := extension.FilesOf(nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			for name, text := range files {
				if _, isNoScript := objects[name]; isNoScript { // scripts run its statements under their path
					continue
				}
				for _, sql := range statementsOf(t, name, text) {
					uses, err := sqltext.PathUses(sql)
					if err != nil {
						t.Errorf("%s: %v", name, err)
					}
					for _, use := range uses {
						t.Errorf("%s: %s", name, use)
					}
				}
			}
		})
	}
}

// metaCommands are lines for psql. jinja is what a macro stands between.
var (
	metaCommands = regexp.MustCompile(`(?m)^\\.*$`)
	variables    = regexp.MustCompile(`:'[a-z]+'|:"[a-z]+"`)
	jinja        = regexp.MustCompile(`(?s)\{#.*?#\}|\{%.*?%\}`)
)

// statementsOf returns the SQL of a file: a script, the script in a macro that installs, or the queries for an exporter. Other macros are statements
// that dbt puts together.
func statementsOf(t *testing.T, name, text string) []string {
	t.Helper()
	switch {
	case strings.HasSuffix(name, "_exporter.yaml"):
		return exporterQueries(t, text)
	case path.Base(name) == "install_script.sql":
		return []string{jinja.ReplaceAllString(text, "")}
	case strings.Contains(name, "/dbt/"), path.Ext(name) != ".sql", strings.Contains(name, "/jobs/"):
		return nil
	}
	return []string{variables.ReplaceAllString(metaCommands.ReplaceAllString(text, ""), "x")}
}

// exporterQueries are the values of query in a configuration.
func exporterQueries(t *testing.T, text string) []string {
	t.Helper()
	var tree any
	if err := yaml.Unmarshal([]byte(text), &tree); err != nil {
		t.Fatal(err)
	}
	var queries []string
	var read func(any)
	read = func(tree any) {
		switch tree := tree.(type) {
		case []any:
			for _, below := range tree {
				read(below)
			}
		case map[string]any:
			for key, below := range tree {
				if query, ok := below.(string); ok && key == "query" {
					queries = append(queries, query)
				}
				read(below)
			}
		}
	}
	read(tree)
	if len(queries) == 0 {
		t.Error("an exporter without queries")
	}
	return queries
}

// A planted name of each kind is found.
func TestPlantedNamesAreFound(t *testing.T) {
	for _, planted := range []string{
		"create function s.f() returns int language sql as $$select pg_catalog.abs(1 + 2)$$",
		"create function s.f() returns int language plpgsql as $$begin return abs(1); end$$",
		"create function s.f() returns int language plpgsql as $$declare v text; begin return 1; end$$",
		"create function s.f(p int) returns int language plpgsql as $$begin case p when 1 then return 1; end case; end$$",
		"create function s.f(p int) returns int language plpgsql as $$begin case when p in (1, 2) then return 1; end case; end$$",
		"create function s.f() returns bigint language sql as $$select pg_catalog.count(*) from s.a join s.b using (id)$$",
		"create function s.f() returns bigint language sql as $$select pg_catalog.count(*) from s.a natural join s.b$$",
		"create function s.f() returns bigint language sql set search_path = public, pg_temp as $$select count(*) from s.a$$",
		"create view s.v as select a || 'x' as a from s.t",
		"create table s.t (at pg_catalog.timestamptz default now())",
		"set local search_path = pg_catalog, pg_temp; set local search_path = public; create view s.v as select count(*) from s.t",
		"do $$begin perform now(); end$$",
	} {
		if uses, err := sqltext.PathUses(planted); err != nil || len(uses) == 0 {
			t.Errorf("%s: found %v, %v", planted, uses, err)
		}
	}
	for _, safe := range []string{
		"set local search_path = pg_catalog, pg_temp; create view s.v as select a || 'x' as a from s.t",
		"create function s.f() returns text language plpgsql set search_path = pg_catalog, pg_temp as $$begin return 'a' || 'b'; end$$",
		"create function s.f() returns int language sql as $$select pg_catalog.abs(1 operator(pg_catalog.+) 2)$$",
	} {
		uses, err := sqltext.PathUses(strings.ReplaceAll(safe, "returns text", "returns pg_catalog.text"))
		if err != nil || len(uses) > 0 {
			t.Errorf("%s: found %v, %v", safe, uses, err)
		}
	}
}

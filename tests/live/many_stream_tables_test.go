package live

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestManyStreamTables puts a hundred stream tables on one source, and ten on top of each other.
func TestManyStreamTables(t *testing.T) {
	var spec strings.Builder
	spec.WriteString("version: 1\nextension: {name: many, version: 1.0.0, schema: st}\nschema: [" + factsFile(t) + "]\nstream_tables:\n")
	queries := map[string]string{}
	add := func(name, query string) {
		queries[name] = query
		fmt.Fprintf(&spec, "  - name: %s\n    query: |\n      %s\n", name, query)
	}
	for n := range 100 {
		add(fmt.Sprintf("wide%d", n), fmt.Sprintf("select g %% %d as k, count(*) as n, sum(v) as v from facts group by 1", n+1))
	}
	add("link0", "select id, g, v from facts where v > 0")
	for n := 1; n < 10; n++ {
		add(fmt.Sprintf("link%d", n), fmt.Sprintf("select id, g, v + 1 as v from link%d where g <> %d", n-1, n))
	}
	extension := installed.Text(t, spec.String())
	db := pgtest.DB(t)
	db.Exec(t, factsDDL+"insert into facts select i, i % 17, i % 5 from generate_series(1, 500) i;"+extension.Install(generator.Plain))
	db.Exec(t, extension.Fill())
	db.Exec(t, "set search_path = public, st")
	db.Exec(t, "update facts set v = v + 1, g = g + 1 where id % 7 = 0; delete from facts where id % 11 = 0")
	db.Exec(t, "call st.tick()")
	db.Exec(t, "select st.refresh_stream_table('link9')")
	for name, query := range queries {
		if strings.HasPrefix(name, "wide") {
			db.Exec(t, "select st.refresh_stream_table('"+name+"')")
		}
		wrong := pgtest.One[int](t, db, fmt.Sprintf(`with is_ as (table st.%s), should as (%s)
			select count(*) from ((table is_ except all table should) union all (table should except all table is_)) x`, name, query))
		if wrong != 0 {
			t.Errorf("%s: %d rows are wrong", name, wrong)
		}
	}
}

func factsFile(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "facts.sql")
	if err := os.WriteFile(path, []byte(factsDDL), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

const factsDDL = "create table facts (id int primary key, g int not null, v int not null);\n"

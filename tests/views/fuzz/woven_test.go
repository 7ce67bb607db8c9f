package fuzz

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestWoven gives the generator queries that are made of others: as subqueries of all kinds, sides of set operations and WITH queries.
func TestWoven(t *testing.T) {
	all := slices.DeleteFunc(queriesOf(t), func(q string) bool {
		return strings.Contains(q, ";") || strings.Contains(q, "--") || len(q) > 400 || strings.TrimSpace(q) == ""
	})
	dir := t.TempDir()
	for seed := range count(t, 100) {
		random := rand.New(rand.NewPCG(uint64(seed), 2))
		query := woven(random, all, 2)
		if random.IntN(5) == 0 {
			query = exchanged(random, query)
		}
		guarded(t, fmt.Sprint("seed ", seed), query, func() { generate(t, dir, spell(modeOf(random), query), schema) })
	}
}

// guarded reports a panic with what caused it.
func guarded(t *testing.T, what, input string, body func()) {
	defer func() {
		if reason := recover(); reason != nil {
			t.Errorf("%s: panic: %v\n%s", what, reason, input)
		}
	}()
	body()
}

// weaves are queries with two others in them.
var weaves = []string{
	"select * from (%s) x", "select count(*) as n from (%s) x", "select x.*, 1 as one from (%s) x", "select * from (%s) x, (%s) y", "select x.* from (%s) x join (%s) y on true",
	"select x.* from (%s) x cross join lateral (%s) y", "select x.* from (%s) x left join (%s) y on true", "(%s) union all (%s)", "(%s) union (%s)", "(%s) intersect (%s)",
	"with w as (%s) select * from w", "with w as (%s), v as (%s) select a.* from w a, v b", "with w as (%s) select a.* from w a join w b on true", "with recursive w as (%s), v as (%s) select * from v",
	"with recursive w as ((%s) union all select * from w) select * from w", "select id from dept where exists (%s)", "select id, (%s) as s from dept", "select id from dept where id in (%s)",
	"select id, array(%s) as a from dept", "select * from dept natural join (%s) x", "select x, count(*) as n from (%s) x group by x", "select distinct * from (%s) x", "select (x).* from (%s) x",
	"select array_agg(x) as a from (%s) x", "select 1 as one, max(1) as m from (%s) x having exists (%s)", "select * from (%s) x order by 1", "select * from (%s) x limit 2", "select x.id from (%s) x group by x.id order by count(*)",
	"values (1), ((%s))", "select * from (%s) as x(a, b)", "select * from ((%s) union all (%s)) x where true", "select count(*) filter (where exists (%s)) as n from emp group by dept",
	"select id from emp e where salary > (%s)", "table dept union all (%s)", "select case when exists (%s) then 1 else 2 end as c, id from dept",
	"select string_agg(x::text, ',') as s from (%s) x", "select * from dept d join (%s) x using (id)", "select * from dept d full join (%s) x using (id)",
}

func woven(random *rand.Rand, all []string, depth int) string {
	if depth == 0 || random.IntN(6) == 0 {
		return all[random.IntN(len(all))]
	}
	weave := weaves[random.IntN(len(weaves))]
	for strings.Contains(weave, "%s") {
		weave = strings.Replace(weave, "%s", strings.ReplaceAll(woven(random, all, depth-1), "%", "%%"), 1)
	}
	return strings.ReplaceAll(weave, "%%", "%")
}

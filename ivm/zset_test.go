package ivm

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/diag"
)

// one are queries over tables of one column: each of their operators alone, and two of them upon each other.
var one = func() []string {
	inner := []string{
		"select a from l", "select a from l where a > 1", "select distinct a from l", "select a from l union all select a from r", "select l.a from l join r on r.a = l.a",
		"select l.a from l join r on r.a <> l.a", "select l.a from l left join r on r.a = l.a", "select r.a from l left join r on r.a = l.a and r.a > 1", "select r.a from l full join r on r.a = l.a",
		"select l.a from l left join r on r.a > l.a where r.a + 1 > 2",
		"select coalesce(l.a, r.a) as a from l full join r on r.a > l.a", "select a from l where exists (select from r where r.a = l.a)", "select a from l where not exists (select from r where r.a >= l.a)",
		"select a from l where a in (select a from r)", "select a from l where a not in (select a from r)", "select a from l where a > all (select a from r)", "select a from l where a <> any (select a from r)",
		"select a from l where not exists (select from r)", "select a from l group by a", "select count(*)::int as a from l", "select max(a) as a from l", "select count(*)::int as a from l group by a",
		"select a from l where a = (select max(a) from r)", "select (select count(*)::int from r where r.a = l.a) as a from l", "select a from l where a < (select sum(r.a) from r where r.a = l.a)",
		"select a from l where a in (select a from r group by a having count(*) > 1)", "select a from l order by a limit 1", "select a from l order by a desc nulls last limit 2 offset 1",
		"select a from l order by a fetch first 1 rows with ties", "select distinct on (a) a from l", "select distinct on (r.a) r.a from l join r on r.a >= l.a order by r.a",
		"select (select r.a from r where r.a = l.a order by r.a limit 1) as a from l", "select x.a from l, lateral (select r.a from r where r.a = l.a limit 2) x",
		"select x.a from l left join lateral (select r.a from r where r.a = l.a limit 1) x on x.a < 2", "select (select r.a from r order by r.a desc limit 1) as a from l",

		"select (select r.a from r where r.a > l.a order by r.a limit 1) as a from l", "select x.a from l, lateral (select r.a from r where r.a <> l.a or l.a is null limit 1 offset 1) x",
		"select x.a from l left join lateral (select r.a + l.a as a from r where r.a >= l.a limit 1) x on x.a > 2", "select (select q.a + l.a from (select a from r where r.a is distinct from l.a order by a limit 1) q) as a from l",

		"select a from l intersect select a from r", "select a from l except select a from r", "select a from l intersect all select a from r", "select a from l except all select a from r",
		"select a from l where a > 1 or exists (select from r where r.a = l.a)", "select a from l where not (a > 1 and a not in (select a from r))",
		"select case when a in (select a from r) then 1 when a <= all (select a from r) then 2 end as a from l", "select sum((select max(r.a) from r where r.a <> l.a))::int as a from l",
		"select x.n as a from l, lateral (select count(*)::int as n, max(r.a) as m from r where r.a > l.a) x where m is null", "select x.a from l left join lateral (select r.a from r where r.a > l.a) x on x.a < 2",
		"select x.a from l, lateral (select distinct r.a from r where r.a is not distinct from l.a) x", "select x.n as a from l left join lateral (select count(*)::int as n from r where r.a = l.a group by r.a) x on true",
		"select g.a from l, generate_series(1, l.a) as g(a)", "select generate_series(1, a) + a as a from l", "select g.a from l left join lateral generate_series(2, l.a) as g(a) on g.a < 3",
		"select x.a from l, lateral (select r.a from r where r.a > l.a) x", "select v.a from l, lateral (values (l.a), (l.a + 1)) v(a)",
		"select l.a from l join r on r.a = l.a where r.a > 1 and l.a <= (select sum(x.a) from l x where x.a = r.a)", "select n as a from l join (select a, count(*)::int as n from r group by a) g using (a) where l.a > 1",
		"select n as a from (select a, count(*)::int as n from l group by a) g join (select a from l where a in (select a from r where a < 2)) x using (a)",
		"select a from l where a < (select sum(x.a) from r x where x.a >= 0 and x.a = l.a) and a in (select a from r where a < 2)", "select a from l where a <= (select sum(x.a) from r x where x.a = l.a) and a not in (select a from r where a < 2)",
		"select coalesce(g.b, n::int) as a from l, rows from (generate_series(1, l.a), generate_series(l.a, 2)) with ordinality as g(a, b, n)",
	}
	outer := []string{
		"select a from (%s) q where a > 1", "select distinct a from (%s) q", "select a, count(*) as n from (%s) q group by a", "select max(a) as a, count(*) as n from (%s) q",
		"select q.a from (%s) q join r on r.a = q.a", "select q.a, r.a as b from (%s) q left join r on r.a = q.a", "select q.a, r.a as b from r left join (%s) q on r.a = q.a",
		"select q.a, r.a as b from (%s) q full join r on r.a = q.a", "select a from (%s) q where exists (select from r where r.a = q.a)", "select a from (%s) q where a not in (select a from r)",
		"select a from r where a in (%s)", "select a from r where a not in (%s)", "select a from r where not exists (select from (%s) q where q.a = r.a)",
		"select a from r where a > (select max(q.a) from (%s) q)", "select a, (select count(*) from (%s) q where q.a = r.a) as n from r",
	}
	inner = append(append(inner, windows...), bands...)
	outer = append(outer, "select q.a + row_number() over (partition by q.a)::int as a from (%s) q", "select sum(q.a) over (partition by r.a) as a from (%s) q join r on r.a >= q.a")
	all := append([]string{"select x.a from l left join lateral (select r.a + l.a as a from r where r.a >= l.a order by r.a - l.a fetch first 1 rows with ties) x on x.a > 2", "select count(x)::int as a from l left join r x on x.a >= l.a group by l.a", "select l.a from l left join r x on x.a >= l.a where coalesce(x = x, l.a > 1)", "select (x.q).a + (r).a as a from (select l as q from l) x join r on (x.q).a >= r.a", "select distinct on (l.a) r.a from l join r on r.a >= l.a order by l.a, r.a desc"}, inner...)
	for _, o := range outer {
		for _, i := range inner {
			all = append(all, fmt.Sprintf(o, i))
		}
	}
	return all
}()

// bands compare rows with values of all rows of a table, which move.
var bands = []string{
	"select a from l where a > (select max(a) from r)", "select a from l where a >= (select min(a) from r)", "select a from l where (select sum(a) from r) <= a", "select a from l where a < (select count(*) from r)",
	"select a from l where a between (select min(a) from r) and (select count(*) + 1 from r)", "select l.a from l, (select min(a) as m, max(a) as n from r) x where l.a > m and l.a < n and l.a <= n",
	"select l.a from l, (select min(a) as m, max(a) as n from r) x where l.a = m and n > 1", "select l.a from l join (select max(a) as m from l) x on l.a + 1 > m", "select a from l where a <= (select max(a) from l)",
	"select a from l group by a having count(*) >= (select max(a) from r)", "select l.a from l join r on r.a = l.a where l.a < (select max(a) from r)", "select a from l where a + 0 >= (select min(a) from r) and a <= (select max(a) from r)",
	"select a from l where a > (select max(a) from r) and exists (select from r where r.a < l.a)",
	"select a from l where a > now()::text::int - 1", "select a from l where a between now()::text::int - 1 and now()::text::int + 1", "select a from l where a = now()::text::int and a <= (select max(a) from r)",
	"select l.a from l join r on r.a = l.a and r.a + 1 > now()::text::int", "select a from l where exists (select from r where r.a = l.a and r.a < now()::text::int)", "select a from l where case when now()::text::int > 1 then a end > 0",
	"select a from l where now()::text::int >= a or a = 2", "select a from l group by a having count(*) > now()::text::int - 1", "select a from l where a in (select a from r where now()::text::int < a) or a > now()::text::int",
}

// TestRules evaluates queries before and after changes, and compares the difference with what their deltas make: over tables of up to three rows of null, 1
// and 2, and all changes of up to two rows of each. What may have states is tried with them, too. Of pairs of operators it tries a part of the changes, which the seed decides.
func TestRules(t *testing.T) {
	known := catalog.New()
	known.AddDDL(diag.WholeFile("schema.sql", "create table l (a int); create table r (a int);"))
	steps, stateful := transitions(), 0
	for n, query := range one {
		errs := &diag.List{}
		plan := Compile(query, diag.WholeFile("query.sql", query).Pos, known, errs)
		if plan == nil || plan.view.Root == nil {
			t.Errorf("%s: %s", query, errs)
			continue
		}
		v := plan.view
		delta := v.simplified(v.rules.changes(v.Root))
		over := v.overStates()
		tries := 4
		if strings.Count(query, "select") == 1 {
			tries = 100
		}
		if os.Getenv("SLUICE_TEST_LONG") != "" {
			tries *= 10
		}
		deltas := map[algebra.Node][]*State{delta: nil}
		if len(over.states) > 0 {
			deltas[over.simplified(over.rules.changes(over.Root))], stateful = over.states, stateful+1
		}
		for delta, states := range deltas {
			random := rand.New(rand.NewPCG(uint64(n), 1))
			for range tries {
				if said := compare(v.Root, delta, steps[random.IntN(len(steps))], steps[random.IntN(len(steps))], random, states...); said != "" {
					t.Errorf("%s\n%s\n%s", query, algebra.Format(delta, v.columns), said)
					break
				}
			}
		}
	}
	if stateful < 100 {
		t.Errorf("%d queries have states", stateful)
	}
}

// transition is what a table holds after a change, and the change.
type transition struct{ now, changes zset }

func (t transition) String() string { return fmt.Sprintf("now %s, changes %s", t.now, t.changes) }

// transitions are all of tables of up to three rows and changes of up to two, a row that is replaced by an equal one among them.
func transitions() []transition {
	values := []value{null, {n: 1}, {n: 2}}
	bags := []zset{{}}
	for from, rows := 0, 0; rows < 3; rows++ {
		to := len(bags)
		for _, b := range bags[from:to] {
			for _, v := range values {
				more := b.minus(zset{})
				more.add([]value{v}, 1)
				bags = append(bags, more)
			}
		}
		from = to
	}
	var all []transition
	for _, before := range bags {
		for _, now := range bags {
			changes, rows := now.minus(before), 0
			for _, n := range changes {
				rows += max(n, -n)
			}
			if rows <= 2 {
				all = append(all, transition{now, changes})
			}
		}
	}
	return all
}

// compare says how a delta, which may read states, differs from the difference that changes of both tables make; nothing if it does not.
func compare(root, delta algebra.Node, l, r transition, random *rand.Rand, states ...*State) (said string) {
	return compareAll(root, delta, map[string]transition{"l": l, "r": r}, random, states...)
}

// compareAll is compare for tables of any names.
func compareAll(root, delta algebra.Node, tables map[string]transition, random *rand.Rand, states ...*State) (said string) {
	defer func() {
		if reason := recover(); reason != nil {
			said = fmt.Sprint(reason)
		}
		if said != "" {
			said = fmt.Sprintf("tables and their changes: %v: %s", tables, said)
		}
	}()
	moment, earlier := random.IntN(3), random.IntN(3)
	after := world{moments: map[string]int{"clock": moment, "clock before": earlier}, now: map[string]zset{}, changes: map[string]zset{}, done: map[algebra.Node]zset{}, some: map[algebra.Node]zset{}}
	before := world{moments: map[string]int{"clock": earlier}, now: map[string]zset{}, done: map[algebra.Node]zset{}, some: map[algebra.Node]zset{}}
	for name, t := range tables {
		after.now[name], after.changes[name], before.now[name] = t.now, t.changes, t.now.minus(t.changes)
	}
	for _, s := range states {
		now, was := s.hashed(after.evaluate(s.node)), s.hashed(before.evaluate(s.node))
		after.now[s.Name()], after.now[s.relation.Before.Name], after.changes[s.Name()] = now, was, now.minus(was)
		if !s.Grouped() { // its own rule
			if changes := after.evaluate(s.of.rules.changes(s.of.Root)); !s.hashed(changes).equal(now.minus(was)) {
				return fmt.Sprintf("the delta of %s makes %v, and the difference is %v", s.Name(), changes, now.minus(was))
			}
		}
	}
	want := after.evaluate(root).minus(before.evaluate(root))
	got := zset{}
	if delta != nil {
		got = after.evaluate(delta)
	}
	if !got.equal(want) {
		return fmt.Sprintf("the delta makes %v, and the difference is %v", got, want)
	}
	return ""
}

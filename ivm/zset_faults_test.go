package ivm

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/algebra/props"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// fault is what is planted at one node of a delta.
type fault struct {
	kind string
	at   algebra.Node
	with algebra.Node
}

// faultsAt are the faults that can be planted at a node.
func faultsAt(n algebra.Node) (all []fault) {
	add := func(kind string, with algebra.Node) { all = append(all, fault{kind, n, with}) }
	conds := func(on []algebra.Scalar, with func([]algebra.Scalar) algebra.Node) {
		for i, cond := range on {
			add("missing condition", with(slices.Delete(slices.Clone(on), i, i+1)))
			for _, e := range props.Equalities([]algebra.Scalar{cond}) {
				nulls := slices.Clone(on)
				nulls[i] = algebra.Scalar{Expr: sqltext.NotDistinct(e.Left.Expr, e.Right.Expr)}
				add("null equals null", with(nulls))
			}
		}
	}
	switch n := n.(type) {
	case *algebra.Union:
		for i := range n.From {
			if !n.Mixed {
				add("missing term", &algebra.Union{Cols: n.Cols, From: slices.Delete(slices.Clone(n.From), i, i+1)})
				add("term twice", &algebra.Union{Cols: n.Cols, From: append(slices.Clone(n.From), n.From[i])})
			}
		}
	case *algebra.Negate:
		add("sign", n.Input)
	case *algebra.Distinct:
		add("duplicates", n.Input)
	case *algebra.Changes:
		add("rows in place of changes", n.Of)
	case *algebra.Source:
		add("as it was in place of as it is", algebra.Before(n, &algebra.Changes{Of: n}))
	case *algebra.Semi:
		add("anti in place of semi", &algebra.Semi{Left: n.Left, Right: n.Right, On: n.On, Anti: !n.Anti, AnySign: n.AnySign, NeverNull: n.NeverNull})
		conds(n.On, func(on []algebra.Scalar) algebra.Node {
			return &algebra.Semi{Left: n.Left, Right: n.Right, On: on, Anti: n.Anti, AnySign: n.AnySign, NeverNull: n.NeverNull}
		})
	case *algebra.Join:
		conds(n.On, func(on []algebra.Scalar) algebra.Node { return &algebra.Join{Left: n.Left, Right: n.Right, On: on} })
	case *algebra.Outer:
		add("no preserved side", &algebra.Join{Left: n.Left, Right: n.Right, On: n.On})
		add("another preserved side", &algebra.Outer{Left: n.Left, Right: n.Right, On: n.On, Full: !n.Full})
	case *algebra.Filter:
		conds(n.Conds, func(on []algebra.Scalar) algebra.Node { return &algebra.Filter{Input: n.Input, Conds: on} })
	}
	return all
}

// faulty are queries whose deltas get faults: each operator, with nulls and duplicates.
var faulty = []string{
	"select a from l where a > 1", "select a from l union all select a from r", "select l.a from l join r on r.a = l.a", "select x.a from l x join l y on y.a = x.a",
	"select l.a, r.a as b from l left join r on r.a = l.a", "select l.a, r.a as b from l full join r on r.a = l.a",
	"select a from l where exists (select from r where r.a = l.a)", "select a from l where a not in (select a from r)", "select a from l where a > all (select a from r)",
	"select a, count(*) as n, sum(a) as s from l group by a", "select count(*) as n, max(a) as a from l", "select distinct a from l",
	"select a from l intersect select a from r", "select a from l except all select a from r",
	"select a, rank() over (partition by a order by a)::int as n from l", "select a, row_number() over (order by a)::int as n from l",
	"select distinct on (l.a) l.a, r.a as b from l join r on r.a >= l.a order by l.a, r.a", "select a from l order by a limit 1",
	"select g.a from l, generate_series(1, l.a) as g(a)", "select (select max(r.a) from r where r.a = l.a) as a from l",
}

// harmless are how many of the faults of a kind make a delta that is as right as the other one: keys of groups, of tests or of first rows that nothing has, or rows
// that are read for them and change nothing (null keys where a comparison follows, more rows on both sides of a test, more keys than are affected); a row twice
// for max, DISTINCT and INTERSECT.
var harmless = map[string]int{"null equals null": 28, "missing condition": 14, "term twice": 16, "missing term": 4}

// TestFaults plants faults in the deltas that the rules make, one at a time, and looks whether what TestRules does finds each.
func TestFaults(t *testing.T) {
	known := catalog.New()
	known.AddDDL(diag.WholeFile("schema.sql", "create table l (a int); create table r (a int);"))
	steps := transitions()
	planted, missed := 0, map[string][]string{}
	for n, query := range faulty {
		v := Compile(query, diag.WholeFile("query.sql", query).Pos, known, &diag.List{}).view
		delta := v.rules.changes(v.Root)
		var faults []fault
		algebra.Walk(delta, func(n algebra.Node) { faults = append(faults, faultsAt(n)...) })
		planted += len(faults)
		for _, f := range faults {
			wrong := f.planted(delta)
			random, said := rand.New(rand.NewPCG(uint64(n), 2)), ""
			for k := 0; k < 200 && said == ""; k++ {
				said = compare(v.Root, wrong, steps[random.IntN(len(steps))], steps[random.IntN(len(steps))], random)
			}
			if said == "" {
				missed[f.kind] = append(missed[f.kind], query+"\n"+algebra.Format(f.at, v.columns))
			}
		}
	}
	for kind, all := range missed {
		if len(all) != harmless[kind] {
			t.Errorf("%s: %d are missed, and %d are harmless:\n%s", kind, len(all), harmless[kind], strings.Join(all, "\n"))
		}
	}
	if planted < 500 {
		t.Errorf("%d faults", planted)
	}
}

// planted is a tree with the fault in it.
func (f fault) planted(tree algebra.Node) algebra.Node {
	return algebra.Rewrite(tree, func(n algebra.Node) algebra.Node {
		if n == f.at {
			return f.with
		}
		return n
	})
}

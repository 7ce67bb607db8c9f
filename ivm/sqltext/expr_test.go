package sqltext

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	pg_query "github.com/pganalyze/pg_query_go/v5"
)

// TestExpr shows what is said of expressions, one on each line of the input.
//
//	sql       as printed
//	name      the name of its column
//	children  the expressions next below
//	uses      what its volatility hangs on
//	call      the call that it is
//	subquery  the subquery that it is
//	parts     conjuncts, sides of an equality, integer, star and the like
func TestExpr(t *testing.T) {
	for _, file := range []string{"expr_sql", "expr_name", "expr_parts"} {
		datadriven.RunTest(t, "testdata/"+file, func(t *testing.T, data *datadriven.TestData) string {
			var out strings.Builder
			for _, line := range strings.Split(data.Input, "\n") {
				e := expr(t, line)
				checkExprRules(t, e)
				out.WriteString(show(data.Cmd, e))
			}
			return out.String()
		})
	}
}

// A star in a scalar subquery has the name that the caller finds for it.
func TestFigureNameAsks(t *testing.T) {
	ask := func(q Query) string { return Tables(q)[0].Name + "_column" }
	for text, want := range map[string]string{"(select * from u)::text": "u_column", "case when a then 1 else (select b from v) end": "v_column", "a": "a"} {
		if got := FigureName(expr(t, text), ask); got != want {
			t.Errorf("%s is called %s, not %s", text, got, want)
		}
	}
}

func expr(t *testing.T, text string) Expr {
	t.Helper()
	q, err := ParseQuery("select " + text)
	if err != nil {
		t.Fatalf("%s: %s", text, err)
	}
	return q.(*Select).Targets[0].Expr
}

func show(cmd string, e Expr) string {
	switch cmd {
	case "sql":
		return e.SQL() + "\n"
	case "name":
		return FigureName(e, nil) + "\n"
	case "children":
		return dump(e.Children()) + "\n"
	case "uses":
		return dump(e.Uses()) + "\n"
	case "call":
		c, ok := e.Call()
		return dumpIf(ok, c)
	case "subquery":
		s, ok := e.Subquery()
		return dumpIf(ok, s)
	}
	return showParts(e)
}

func dumpIf(ok bool, v any) string {
	if !ok {
		return "none\n"
	}
	return dump(v)
}

func showParts(e Expr) string {
	var out strings.Builder
	for _, c := range e.Conjuncts() {
		fmt.Fprintf(&out, "%s", c.SQL())
		if l, r, ok := c.Equality(); ok {
			fmt.Fprintf(&out, " | equality %s, %s", l.SQL(), r.SQL())
		}
		if n, ok := c.Integer(); ok {
			fmt.Fprintf(&out, " | integer %d", n)
		}
		if r, ok := c.Ref(); ok {
			fmt.Fprintf(&out, " | ref %q", r.Parts)
		}
		fmt.Fprintf(&out, "%s%s%s\n", said(c.Star(), "star"), said(c.IsConstant(), "constant"), said(c.IsGrouping(), "grouping"))
	}
	return out.String()
}

func said(is bool, what string) string {
	if is {
		return " | " + what
	}
	return ""
}

// scalar returns the expression that a message of a parse tree is.
func scalar(message any) (Expr, bool) {
	n, ok := message.(*pg_query.Node)
	return Expr{n}, ok && n.Node != nil && isScalar(n)
}

// checkExprRules checks what must hold of any expression.
func checkExprRules(t *testing.T, e Expr) {
	t.Helper()
	sql := e.SQL()
	if again := expr(t, sql); !Equal(e, again) {
		t.Errorf("%s does not come back from its text", sql)
	}
	never := func(Expr) (Expr, bool) { return Expr{}, false }
	if mapped := e.Map(never); !Equal(e, mapped) || mapped.SQL() != sql {
		t.Errorf("mapping nothing in\n%s\ngave\n%s", sql, mapped.SQL())
	}
	checkBinding(t, e)
	checkSubstitution(t, e)
	checkChildren(t, e)
}

// checkBinding binds all columns, prints, and unbinds them.
func checkBinding(t *testing.T, e Expr) {
	t.Helper()
	var refs []Expr
	bound := e.Map(func(x Expr) (Expr, bool) {
		if r, ok := x.Ref(); !ok || r.Star {
			return Expr{}, false
		}
		refs = append(refs, x)
		return Column(len(refs)), true
	})
	if got := bound.Columns(); len(got) != len(refs) {
		t.Errorf("%s has the columns %v, not %d", bound.SQL(), got, len(refs))
	}
	if printed := bound.SQL(); strings.Count(printed, "#") < len(refs) {
		t.Errorf("%s does not print its columns", printed)
	}
	back := bound.Map(func(x Expr) (Expr, bool) {
		id, ok := x.Column()
		if !ok {
			return Expr{}, false
		}
		return refs[id-1], true
	})
	if !Equal(e, back) || back.SQL() != e.SQL() {
		t.Errorf("%s came back from binding as %s", e.SQL(), back.SQL())
	}
}

// checkSubstitution puts expressions that want parentheses in the place of columns.
func checkSubstitution(t *testing.T, e Expr) {
	t.Helper()
	for _, text := range []string{"p or q", "p at time zone q", "p is null", "p::int", "p <> all (select q)", "p between q and r"} {
		x := expr(t, text)
		put := e.Map(func(c Expr) (Expr, bool) {
			r, ok := c.Ref()
			return x, ok && !r.Star
		})
		q, err := ParseQuery("select " + put.SQL())
		if err != nil || !Equal(flat(put), flat(q.(*Select).Targets[0].Expr)) {
			t.Errorf("with %s for columns, %s becomes %s: %v", text, e.SQL(), put.SQL(), err)
		}
	}
}

// flat joins nested ORs and nested ANDs into one, as the parser does where it sees them without parentheses.
func flat(e Expr) Expr {
	var visit func(n *pg_query.Node) *pg_query.Node
	visit = func(n *pg_query.Node) *pg_query.Node {
		n = mapBelow(n, visit)
		b := n.GetBoolExpr()
		if b == nil || b.Boolop == pg_query.BoolExprType_NOT_EXPR {
			return n
		}
		var args []*pg_query.Node
		for _, arg := range b.Args {
			if inner := arg.GetBoolExpr(); inner != nil && inner.Boolop == b.Boolop {
				args = append(args, inner.Args...)
			} else {
				args = append(args, arg)
			}
		}
		b.Args = args
		return n
	}
	return Expr{visit(e.node)}
}

// checkChildren checks that Children and the walk of the whole tree agree on which expressions there are.
func checkChildren(t *testing.T, e Expr) {
	t.Helper()
	want := map[*pg_query.Node]bool{}
	walk(e.node, func(m any) bool {
		x, ok := scalar(m)
		want[x.node] = want[x.node] || ok
		_, query := m.(*pg_query.SelectStmt)
		_, typeName := m.(*pg_query.TypeName)
		return !query && !typeName
	})
	delete(want, e.node)
	for n, scalar := range want {
		if !scalar {
			delete(want, n)
		}
	}
	below(e, func(x Expr) { delete(want, x.node) })
	if len(want) > 0 {
		t.Errorf("%s: children leave out %d expressions", e.SQL(), len(want))
	}
}

func below(e Expr, visit func(Expr)) {
	for _, c := range e.Children() {
		visit(c)
		below(c, visit)
	}
}

package coverage

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm"
	"github.com/pgsluice/sluice/ivm/algebra"
	"github.com/pgsluice/sluice/ivm/catalog"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
	"github.com/pgsluice/sluice/tests/kit/pgtest/golden"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// modes are those that follow changes.
var modes = []string{spec.RefreshDifferential, spec.RefreshImmediate}

// construct is an example of a construct, and what becomes of it.
type construct struct {
	section, name, query string
	number               int       // among those of the file, from 1
	plan                 *ivm.Plan // nil if it is refused
	lines                []int     // of the functions in each mode; none if it is not followed
	said                 string    // in the file
	refused              *diag.Error
}

// view is the stream table of the example.
func (c *construct) view() string { return fmt.Sprintf("v%d", c.number) }

func (c *construct) followed() bool { return c.plan != nil && c.plan.Followed() }

// followedIn reports whether a mode follows it: differential alone follows the time.
func (c *construct) followedIn(mode string) bool {
	return mode != spec.RefreshFull && c.followed() && (mode == spec.RefreshDifferential || c.plan.Moves == nil)
}

// file is what testdata/constructs holds.
type file struct {
	schema     string
	constructs []*construct
}

// read reads the file; visit is called for each construct and says what becomes of it.
func read(t *testing.T, visit func(t *testing.T, f *file, c *construct) string) *file {
	t.Helper()
	f, section := &file{}, ""
	known := catalog.New()
	datadriven.RunTest(t, "testdata/constructs", func(t *testing.T, d *datadriven.TestData) string {
		switch d.Cmd {
		case "schema":
			f.schema = d.Input + "\n"
			return known.AddDDL(diag.WholeFile("schema.sql", d.Input)).String()
		case "section":
			section = d.Input
			return ""
		}
		name, query, ok := strings.Cut(d.Input, "\n")
		if !ok || !strings.HasPrefix(name, "-- ") {
			d.Fatalf(t, "no name in a comment before the query")
		}
		c := &construct{section: section, name: strings.TrimPrefix(name, "-- "), query: query, number: len(f.constructs) + 1, said: d.Expected}
		errs := &diag.List{}
		parsed, err := sqltext.ParseQuery(query)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		c.plan = ivm.CompileParsed(parsed, query, diag.WholeFile("query.sql", query).Pos, known, ivm.Options{All: true, States: true}, errs)
		if c.plan == nil {
			c.refused = &errs.Errors()[0]
		}
		f.constructs = append(f.constructs, c)
		return visit(t, f, c)
	})
	return f
}

// constructs reads the file as it is.
func constructs(t *testing.T) *file {
	t.Helper()
	return read(t, func(_ *testing.T, _ *file, c *construct) string { return c.said })
}

// TestConstructs compares what becomes of each construct, and the page, with what is written down.
func TestConstructs(t *testing.T) {
	if golden.Update() {
		flag.Set("rewrite", "true")
	}
	f := read(t, func(t *testing.T, f *file, c *construct) string {
		f.measure(t, c)
		return c.outcome()
	})
	f.checkLines(t)
	rewrite := flag.Lookup("rewrite").Value.String() == "true"
	const page = "../../../docs/coverage.md"
	text := f.page(t)
	if rewrite {
		if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	had, _ := os.ReadFile(page)
	golden.CompareText(t, page, text, string(had))
}

// spec is one of some constructs in a mode, each in the schema that is given.
func (f *file) spec(t testing.TB, extension, mode string, some ...*construct) (*spec.Spec, *diag.List) {
	t.Helper()
	text := fmt.Sprintf("version: 1\nextension: {name: %[1]s, version: 1.0.0, schema: %[1]s}\nschema: [schema.sql]\nstream_tables:\n", extension)
	for _, c := range some {
		text += fmt.Sprintf("  - name: %s.%s\n    schedule: 1h\n    refresh_mode: %s\n    query: |2\n      %s\n", extension, c.view(), mode, strings.ReplaceAll(c.query, "\n", "\n      "))
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"spec.yaml": text, "schema.sql": f.schema} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	specs, errs := spec.Load(filepath.Join(dir, "spec.yaml"))
	if !errs.Empty() {
		return nil, errs
	}
	return specs[0], errs
}

// measure counts the lines of a construct's functions, and looks whether specs take and refuse what the compiler does.
func (f *file) measure(t *testing.T, c *construct) {
	t.Helper()
	for _, mode := range modes {
		s, errs := f.spec(t, "one", mode, c)
		text := ""
		if errs.Empty() {
			text, _, errs, _ = generator.Explain(s, "one."+c.view(), "sql", "text")
		}
		switch {
		case c.followedIn(mode) && !errs.Empty():
			t.Errorf("%s: %s: %s", c.name, mode, errs)
		case c.followedIn(mode):
			c.lines = append(c.lines, strings.Count(text, "\n"))
		case errs.Empty():
			t.Errorf("%s: mode %s takes it", c.name, mode)
		case c.plan != nil && errs.Errors()[0].Code != "not-incremental" && errs.Errors()[0].Code != "not-immediate":
			t.Errorf("%s: mode %s: %s", c.name, mode, errs)
		}
	}
}

// outcome is what the file has of a construct.
func (c *construct) outcome() string {
	switch {
	case c.refused != nil:
		return fmt.Sprintf("refused: %d:%d: %s; %s\n", c.refused.Line, c.refused.Col, c.refused.Message, c.refused.Hint)
	case !c.followed():
		r := c.plan.Full[0]
		return fmt.Sprintf("recomputed: %d:%d: %s; %s\n", r.Pos.Line, r.Pos.Col, r.What, r.Hint)
	}
	lines := ""
	for i, n := range c.lines {
		lines += fmt.Sprintf(", %d %s", n, modes[i])
	}
	return fmt.Sprintf("followed: %s, %s\ncost: %s\nlines: %s\n", c.plan.Strategy, strings.Join(c.rules(), ", "), c.cost(), strings.TrimPrefix(lines, ", "))
}

// rules are those that the operators of the view follow, by their numbers in docs/coverage.md.
func (c *construct) rules() []string {
	var all []string
	plans := []*ivm.Plan{c.plan}
	for _, state := range c.plan.States {
		plans = append(plans, state.Plan)
	}
	for _, plan := range plans {
		plan.Tree(func(root algebra.Node, _ *algebra.Columns) string {
			algebra.Walk(root, func(n algebra.Node) { all = append(all, strings.Fields(ruleOf(plan.Rule(n)))...) })
			return ""
		})
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// ruleOf are the numbers of a rule.
func ruleOf(rule string) string {
	for _, known := range []struct{ part, number string }{
		{"added to what is stored", "R4"}, {"stored ⋉ A", "R3b"}, {"recomputed for the groups", "R3b"}, {"computed from what is stored", ""},
		{"B ⋉ s", "R5"}, {"from what has gone", "R6"}, {"both computed as a whole", "R0"}, {"⋉ A", "R3a"}, {"−top(X ⊎", "R0"}, {"A being the rows of L", "R3t"}, {"⟕", "R2 R3t"}, {"⟗", "R2 R3t"}, {"A ⋈ B", "R2"},
	} {
		if strings.Contains(rule, known.part) {
			return known.number
		}
	}
	return "R1"
}

// cost is the cost class, and where sources differ, that of each.
func (c *construct) cost() string {
	var parts []string
	for _, cost := range c.plan.Costs {
		parts = append(parts, cost.Table.Name+": "+cost.Class.String())
	}
	class := func(cost ivm.Cost) string { return cost.Class.String() }
	if all := c.plan.Costs; len(all) > 0 && !slices.ContainsFunc(all, func(o ivm.Cost) bool { return class(o) != class(all[0]) }) {
		return class(all[0])
	}
	return strings.Join(parts, "; ")
}

// Budgets of lines: of the functions that maintain one stream table, and in the mean over all constructs. They are near what there is, so that growth is noticed.
const (
	mostLines = 440 // 10 and 5 more since statements leave out what triggers bypass, and as many since the function of a maintenance group is its first member's
	meanLines = 240
)

// checkLines compares how long the SQL of the constructs is with the budgets.
func (f *file) checkLines(t *testing.T) {
	t.Helper()
	sum, count := 0, 0
	for _, c := range f.constructs {
		for i, lines := range c.lines {
			if sum, count = sum+lines, count+1; lines > mostLines {
				t.Errorf("%s, mode %s: %d lines, and %d are the most", c.name, modes[i], lines, mostLines)
			}
		}
	}
	if mean := float64(sum) / float64(count); mean > meanLines {
		t.Errorf("%.0f lines in the mean, and %d are the most", mean, meanLines)
	}
}

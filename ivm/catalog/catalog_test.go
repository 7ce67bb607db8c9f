package catalog

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
	"github.com/pgsluice/sluice/tests/kit/pgtest/golden"
)

// The files in testdata hold scripts of DDL and what the catalog makes of them. Each command begins with an empty catalog, unless it says
// "and".
//
//	ddl [and]         all that the script makes
//	callable [and]    what a call of each name means, one name a line, with the number of arguments after it
//	volatile [and]    the operators of each name, one name a line, or the casts to a type after the word cast
//	names [and]       the relations, functions and types under the names by which a query reaches them, one a line
func TestCatalog(t *testing.T) {
	if golden.Update() {
		flag.Set("rewrite", "true")
	}
	datadriven.Walk(t, "testdata/ddl", func(t *testing.T, path string) {
		var c *Catalog
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if c == nil || !d.HasArg("and") {
				c = New()
			}
			switch d.Cmd {
			case "ddl":
				return readDDL(c, d.Input)
			case "callable":
				return callables(c, d.Input)
			case "volatile":
				return volatiles(c, d.Input)
			case "names":
				return names(c, d.Input)
			}
			t.Fatalf("unknown command %s", d.Cmd)
			return ""
		})
	})
}

func readDDL(c *Catalog, script string) string {
	errs := c.AddDDL(diag.WholeFile("schema.sql", script))
	errs.AddSource("schema.sql", script)
	return errs.String() + describe(c)
}

// describe prints the whole catalog.
func describe(c *Catalog) string {
	var b strings.Builder
	for _, r := range relations(c) {
		describeRelation(&b, r)
	}
	for _, t := range sorted(c.types) {
		describeType(&b, t)
	}
	for _, functions := range sorted(c.functions) {
		for _, f := range functions {
			describeFunction(&b, f)
		}
	}
	for _, operators := range sorted(c.operators) {
		for _, o := range operators {
			fmt.Fprintf(&b, "operator %s.%s (%s, %s) %s\n", o.Schema, o.Name, o.Left, o.Right, o.Volatility)
		}
	}
	for _, cast := range c.casts {
		fmt.Fprintf(&b, "cast %s to %s %s\n", cast.Source, cast.Target, cast.Volatility)
	}
	for _, key := range slices.SortedFunc(maps.Keys(c.collations), byName) {
		fmt.Fprintf(&b, "collation %s deterministic=%t\n", key, c.collations[key])
	}
	return b.String()
}

func relations(c *Catalog) []*Relation { return sorted(c.relations) }

// sorted returns the objects of a map by name.
func sorted[T any](objects map[name]T) []T {
	var all []T
	for _, key := range slices.SortedFunc(maps.Keys(objects), byName) {
		all = append(all, objects[key])
	}
	return all
}

func byName(a, b name) int { return strings.Compare(a.String(), b.String()) }

func describeRelation(b *strings.Builder, r *Relation) {
	fmt.Fprintf(b, "%s %s%s%s\n", r.Kind, r.SQLName(), flags(r.RowSecurity, "row security"), flags(r.Partition, "partition"))
	for _, c := range r.Columns {
		fmt.Fprintf(b, "    %s\n", describeColumn(c))
	}
	if r.Key != nil {
		fmt.Fprintf(b, "    key %v\n", r.Key)
	}
	for _, unique := range r.Uniques {
		fmt.Fprintf(b, "    unique %v\n", unique)
	}
	for _, k := range r.keys {
		if k.plain {
			fmt.Fprintf(b, "    index %v\n", k.columns)
		}
	}
	for _, child := range r.Children {
		fmt.Fprintf(b, "    child %s\n", child.SQLName())
	}
	if r.isView() {
		fmt.Fprintf(b, "    aliases %v, path %v, at %s\n    %q\n", r.Aliases, r.SearchPath, r.QueryPos(0), r.Query)
	}
}

func describeColumn(c Column) string {
	text := sqltext.Ident(c.Name) + " " + c.Type
	if c.Collation != "" {
		text += " collate " + c.Collation
	}
	return text + flags(c.NotNull, "not null") + flags(c.Identity, "identity") + flags(c.Generated, "generated") + flags(c.Virtual, "virtual")
}

func flags(set bool, word string) string {
	if set {
		return ", " + word
	}
	return ""
}

func describeType(b *strings.Builder, t *Type) {
	kinds := []string{"base", "enum", "composite", "range", "domain"}
	fmt.Fprintf(b, "type %s: %s %s%s\n", sqltext.Qualified(t.Schema, t.Name), kinds[t.Kind], t.Base, flags(t.NotNull, "not null"))
	for _, c := range t.Columns {
		fmt.Fprintf(b, "    %s\n", describeColumn(c))
	}
	for _, check := range t.Checks {
		fmt.Fprintf(b, "    check (%s)\n", check)
	}
}

func describeFunction(b *strings.Builder, f Function) {
	kinds := []string{"function", "procedure", "aggregate", "window function"}
	fmt.Fprintf(b, "%s %s(%s) %s%s", kinds[f.Kind], sqltext.Qualified(f.Schema, f.Name), strings.Join(f.Args, ", "), f.Volatility, flags(f.SetReturning, "set"))
	fmt.Fprintf(b, "%s%s returns %q %s\n", flags(f.Variadic, "variadic"), flags(f.Defaults > 0, fmt.Sprint(f.Defaults, " optional")), f.Returns, f.Language)
	for _, c := range f.Columns {
		fmt.Fprintf(b, "    %s\n", describeColumn(c))
	}
}

func callables(c *Catalog, input string) string {
	var b strings.Builder
	for line := range strings.Lines(input) {
		var function string
		args := anyArgs
		fmt.Sscan(line, &function, &args)
		schema, base, qualified := strings.Cut(function, ".")
		if !qualified {
			schema, base = "", schema
		}
		f := c.Callable(schema, base, args)
		fmt.Fprintf(&b, "%s: known=%t %s to %s", function, f.Known, f.Least, f.Most)
		fmt.Fprintf(&b, "%s%s%s%s\n", flags(f.Plain, "plain"), flags(f.Set, "set"), flags(f.Aggregate, "aggregate"), flags(f.Window, "window"))
	}
	return b.String()
}

func volatiles(c *Catalog, input string) string {
	var b strings.Builder
	for _, line := range strings.Split(input, "\n") {
		if target, ok := strings.CutPrefix(line, "cast "); ok {
			for _, cast := range c.Casts(target) {
				fmt.Fprintf(&b, "%s to %s: %s\n", cast.Source, cast.Target, cast.Volatility)
			}
			continue
		}
		for _, o := range c.Operators("", line) {
			fmt.Fprintf(&b, "%s %s.%s %s: %s\n", o.Left, o.Schema, o.Name, o.Right, o.Volatility)
		}
	}
	return b.String()
}

func names(c *Catalog, input string) string {
	var b strings.Builder
	fmt.Fprintln(&b, "all:", strings.Join(c.RelationNames(), " "))
	for _, name := range strings.Fields(input) {
		schema, base, qualified := strings.Cut(name, ".")
		if !qualified {
			schema, base = "", schema
		}
		var found []string
		if r := c.Relation(schema, base); r != nil {
			found = append(found, r.Kind.String()+" "+r.SQLName())
		}
		if t := c.Type(schema, base); t != nil {
			found = append(found, "type "+t.Schema)
		}
		for _, f := range c.Function(schema, base) {
			found = append(found, "function "+f.Schema)
		}
		near := diag.Nearest(name, append(c.RelationNames(), c.FunctionNames()...))
		fmt.Fprintf(&b, "%s: %s; nearest %s\n", name, strings.Join(found, ", "), near)
	}
	return b.String()
}

func TestAdd(t *testing.T) {
	c := New("app", "public")
	errs := c.AddDDL(diag.WholeFile("schema.sql", `create table t (a int); create collation x from "C"; create collation ci (locale = 'x', deterministic = false);`))
	if !errs.Empty() {
		t.Fatal(errs)
	}
	taken := c.Add(&Relation{Schema: "app", Name: "t", Kind: StreamTable})
	if taken == nil || taken.Kind != Table || taken.At.String() != "schema.sql:1:14" {
		t.Errorf("app.t is %+v", taken)
	}
	if c.Add(&Relation{Schema: "public", Name: "s", Kind: StreamTable}) != nil || c.Relation("", "s").Kind != StreamTable {
		t.Error("public.s is not added")
	}
	if !c.Deterministic("app.x") || c.Deterministic("app.ci") || !c.Deterministic(`pg_catalog."C"`) {
		t.Error("wrong collations")
	}
}

package catalog

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
	"github.com/pgsluice/sluice/ivm/sqltext/ddl"
	"github.com/pgsluice/sluice/tests/kit/pgtest/golden"
)

// TestDumps compares what the catalog makes of a dump with what the server said of the database. The .live files come from the server, by
// live.sql, and are not rewritten here.
func TestDumps(t *testing.T) {
	dumps, err := filepath.Glob("testdata/dumps/v*.sql")
	if err != nil || len(dumps) == 0 {
		t.Fatalf("no dumps: %v", err)
	}
	for _, path := range dumps {
		t.Run(filepath.Base(path), func(t *testing.T) {
			script := read(t, path)
			c := New()
			errs := c.AddDDL(diag.WholeFile(path, script))
			errs.AddSource(path, script)
			if !errs.Empty() {
				t.Error(errs)
			}
			live := strings.TrimSuffix(path, ".sql") + ".live"
			golden.CompareText(t, live, sortedLines(asServer(c)), sortedLines(read(t, live)))
		})
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func sortedLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// asServer prints the catalog as live.sql prints a database.
func asServer(c *Catalog) string {
	var b strings.Builder
	line := func(fields ...any) {
		text := make([]string, len(fields))
		for i, field := range fields {
			text[i] = strings.Replace(fmt.Sprint(field), "true", "t", 1)
			text[i] = strings.Replace(text[i], "false", "f", 1)
		}
		b.WriteString(strings.Join(text, "|") + "\n")
	}
	for _, r := range relations(c) {
		relationAsServer(r, line)
	}
	for _, functions := range sorted(c.functions) {
		for _, f := range functions {
			if f.Language != "" || f.Kind == ddl.AggregateRoutine { // and not made by a range type
				kind := []string{"function", "procedure", "aggregate", "window function"}[f.Kind]
				line("function", sqltext.Qualified(f.Schema, f.Name), strings.Join(f.Args, ", "), kind, f.Volatility, f.SetReturning, f.Variadic, f.Defaults)
			}
		}
	}
	for key, deterministic := range c.collations {
		line("collation", sqltext.Qualified(key.schema, key.name), deterministic)
	}
	return b.String()
}

func relationAsServer(r *Relation, line func(...any)) {
	var parents []string
	for _, p := range r.Parents {
		parents = append(parents, p.SQLName())
	}
	line("relation", r.SQLName(), r.Kind, r.Partition, r.RowSecurity, strings.Join(parents, ","))
	for i, c := range r.Columns {
		line("column", r.SQLName(), i+1, c.Name, c.Type, c.Collation, c.NotNull, c.Identity, c.Generated, c.Virtual)
	}
	names := func(key []int) string {
		var names []string
		for _, i := range key {
			names = append(names, r.Columns[i].Name)
		}
		return strings.Join(names, ",")
	}
	if r.Key != nil {
		line("key", r.SQLName(), true, names(r.Key))
	}
	for _, unique := range r.Uniques {
		line("key", r.SQLName(), false, names(unique))
	}
}

package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/spec"
)

//go:embed views.sql
var viewsDDL string

// The dimensions' sizes, and how many buckets sales fall into.
const (
	products  = 1000
	customers = 100_000
	buckets   = 10_000
	cities    = 1000
)

// class is a kind of view.
type class struct {
	name  string // a letter and what it is
	key   string // unique in the view
	query string
}

// classes are those that the goals are about.
var classes = []class{
	{"a-filter", "id", "select id, customer_id, amount, amount * 2 as twice from sale where amount > 500"},
	{"b-join", "id", "select s.id, s.amount, p.name as product, c.name as customer\n" +
		"from sale s\njoin product p on p.id = s.product_id\njoin customer c on c.id = s.customer_id"},
	{"c-group", "bucket", "select bucket, count(*) as sales, sum(amount) as total, avg(amount) as mean from sale group by bucket"},
	{"d-join-group", "city", "select c.city, count(*) as sales, sum(s.amount) as total\n" +
		"from sale s\njoin customer c on c.id = s.customer_id\ngroup by c.city"},
	{"e-min-max", "bucket", "select bucket, min(amount) as least, max(amount) as most from sale group by bucket"},
	{"f-distinct", "customer_id", "select distinct customer_id from sale"},
	// pg_ivm wants the columns of the conditions in the select list.
	{"g-exists", "id", "select s.id, s.amount, s.customer_id from sale s where exists (select 1 from customer c where c.id = s.customer_id and c.city < 500)"},
	{"h-left-join", "id", "select s.id, s.amount, s.customer_id, c.id as customer, c.name from sale s left join customer c on c.id = s.customer_id"},
}

// variants are so many views, of all classes in turn, that differ in name and query.
func variants(count int) []class {
	many := make([]class, count)
	for n := range many {
		c := classes[n%len(classes)]
		c.name = fmt.Sprintf("v%d-%s", n, c.name)
		c.query = strings.Replace(c.query, "amount", fmt.Sprintf("amount + %d", n), 1)
		many[n] = c
	}
	return many
}

// letter is the stream table's name.
func (c class) letter() string {
	letter, _, _ := strings.Cut(c.name, "-")
	return letter
}

// stream is the stream table's full name.
func (c class) stream() string { return "sl." + c.letter() }

// joins reports whether the view reads customers too.
func (c class) joins() bool { return strings.Contains(c.query, "customer c") }

// streamTables compiles a spec with these stream tables.
func streamTables(mode string, chosen ...class) (*generator.Extension, error) {
	var b strings.Builder
	b.WriteString("version: 1\nextension: {name: bench, version: 1.0.0, schema: sl}\nschema: [schema.sql]\nstream_tables:\n")
	for _, c := range chosen {
		fmt.Fprintf(&b, "  - name: %s\n    refresh_mode: %s\n    query: |\n      %s\n", c.letter(), mode, strings.ReplaceAll(c.query, "\n", "\n      "))
	}
	return extensionOf(map[string]string{"spec.yaml": b.String(), "schema.sql": viewsDDL})
}

// extensionOf generates what a spec asks for, among files.
func extensionOf(files map[string]string) (*generator.Extension, error) {
	dir, err := os.MkdirTemp("", "sluice-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := writeFiles(dir, files); err != nil {
		return nil, err
	}
	return compile(dir)
}

func writeFiles(dir string, files map[string]string) error {
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// compile generates what the one spec in a directory asks for.
func compile(dir string) (*generator.Extension, error) {
	specs, errs := spec.Load(dir)
	if !errs.Empty() {
		return nil, errs
	}
	extension, errs := generator.Generate(specs[0])
	if !errs.Empty() {
		return nil, errs
	}
	return extension, nil
}

// installViews puts stream tables into a database and fills them.
func installViews(ctx context.Context, dsn, mode string, chosen ...class) error {
	extension, err := streamTables(mode, chosen...)
	if err != nil {
		return err
	}
	return connected(ctx, dsn, func(conn *pgx.Conn) error {
		if _, err := commandtest.Apply(ctx, conn, extension, commandtest.ApplyOptions{}); err != nil {
			return err
		}
		return execute(ctx, conn, "vacuum analyze")
	})
}

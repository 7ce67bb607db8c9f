package live

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestReferenceIsTrue compares the columns of every relation in the reference, with those on a server.
func TestReferenceIsTrue(t *testing.T) {
	const spec = "../../generator/docs/testdata/"
	tables, err := os.ReadFile(spec + "schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	e := installed.Load(t, spec+"spec.yaml")
	db := pgtest.DB(t)
	db.Exec(t, string(tables))
	db.SuperExec(t, "create role rich_app; create role rich_worker; create role rich_monitor")
	db.Exec(t, e.Install(generator.Plain))
	page, err := e.ReferencePage()
	if err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	relation, compared := "", 0
	for n := range root.Descendants() {
		switch {
		case n.Data == "h4" || n.Data == "h5" || n.Data == "h3":
			relation = textOf(n.FirstChild)
		case n.Data == "dt" && (textOf(n) == "Table" || textOf(n) == "Select from"):
			relation = textOf(n.NextSibling)
		case n.Data == "tr" && textOf(n.FirstChild) == "Column":
			compareColumns(t, db, relation, n)
			compared++
		}
	}
	if compared < 30 {
		t.Errorf("only %d relations were found", compared)
	}
}

// compareColumns compares the rows that follow the head of a table with a relation's columns.
func compareColumns(t *testing.T, db *pgtest.Database, relation string, head *html.Node) {
	t.Helper()
	actual := pgtest.Rows(t, db, `
		select a.attname, format_type(a.atttypid, null), case when a.attnotnull then 'no' else 'yes' end
		from pg_attribute a
		where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped
		order by a.attnum`, relation)
	for row := head.NextSibling; row != nil; row = row.NextSibling {
		if row.Data != "tr" {
			continue
		}
		var cells []string
		for c := range row.ChildNodes() {
			cells = append(cells, textOf(c))
		}
		if len(actual) == 0 {
			t.Fatalf("%s has no %s", relation, cells[0])
		}
		c := actual[0]
		actual = actual[1:]
		if typ := cells[1]; c[0] != cells[0] ||
			typ != "as the query has it" && c[1] != pgtest.One[string](t, db, "select format_type($1::text::regtype, null)", typ) ||
			len(cells) == 5 && c[2] != cells[2] {
			t.Errorf("%s: described as %v, is %v", relation, cells, c)
		}
	}
	if len(actual) > 0 {
		t.Errorf("%s: no description of %v", relation, actual)
	}
}

func textOf(n *html.Node) string {
	var out strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			out.WriteString(c.Data)
		}
	}
	return out.String()
}

package oracle

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// column is one of a relation or of a query.
type column struct{ name, typ, collation string }

// opaque are types without equality: their values are compared as text.
var opaque = map[string]bool{"json": true, "xml": true, "point": true, "record": true}

// shapes reads the columns of relations, by the names given for them.
func shapes(ctx context.Context, conn *pgx.Conn, relations map[string]string) (map[string][]column, error) {
	var list []string
	for key, relation := range relations {
		list = append(list, fmt.Sprintf("(%s, %s)", literal(key), literal(relation)))
	}
	if len(list) == 0 {
		return nil, nil
	}
	rows, err := texts(ctx, conn, `
select r.key, a.attname, format_type(a.atttypid, a.atttypmod), a.attcollation::regcollation
from (values `+strings.Join(list, ", ")+`) r (key, relation)
join pg_attribute a on a.attrelid = r.relation::regclass
where a.attnum > 0 and not a.attisdropped
order by 1, a.attnum`)
	found := map[string][]column{}
	for _, row := range rows {
		found[row[0]] = append(found[row[0]], column{row[1], row[2], row[3]})
	}
	return found, err
}

func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// comparison is a relation and the query that it should equal.
type comparison struct {
	view     string
	query    string
	relation string
	columns  []column // of the query
}

// names are the columns under names that are safe, and as expressions that have equality.
func (c comparison) names() (names, expressions string) {
	var list, compared []string
	for i, column := range c.columns {
		name := fmt.Sprintf("c%d", i+1)
		list = append(list, name)
		if opaque[column.typ] {
			name += "::text as " + name
		}
		compared = append(compared, name)
	}
	return strings.Join(list, ", "), strings.Join(compared, ", ")
}

// bag is a query for the distinct rows of both sides: n is how many more there are in the query than in the relation,
// w how many there are in the query.
func (c comparison) bag() string {
	names, expressions := c.names()
	return fmt.Sprintf(`select %[1]s, sum(m) as n, count(*) filter (where m > 0) as w from (
select %[2]s, 1 as m from (
%[3]s
) q (%[1]s)
union all
select %[2]s, -1 from %[4]s r (%[1]s)
) u group by %[1]s`, names, expressions, c.query, c.relation)
}

// summary is a query with one row: how many rows differ, how many the query has, and a number that changes with them.
func (c comparison) summary() string {
	names, _ := c.names()
	return fmt.Sprintf("select %s, coalesce(sum(abs(n)), 0), coalesce(sum(w), 0), coalesce(sum(w * hashtextextended(row(%s)::text, 0)::numeric), 0) from (\n%s\n) g",
		literal(c.view), names, c.bag())
}

// verdict is what a comparison says.
type verdict struct {
	differ int
	rows   int
	hash   string
}

// compare compares all at once, which saves round trips.
func compare(ctx context.Context, conn *pgx.Conn, all []comparison) (map[string]verdict, error) {
	var parts []string
	for _, c := range all {
		parts = append(parts, "("+c.summary()+")")
	}
	rows, err := texts(ctx, conn, strings.Join(parts, "\nunion all\n"))
	if err != nil {
		return nil, err
	}
	verdicts := map[string]verdict{}
	for _, row := range rows {
		differ, _ := strconv.Atoi(row[1])
		count, _ := strconv.Atoi(row[2])
		verdicts[row[0]] = verdict{differ, count, row[3]}
	}
	return verdicts, nil
}

// differences lists rows that one side has more of than the other.
func differences(ctx context.Context, conn *pgx.Conn, c comparison) ([]string, error) {
	names, _ := c.names()
	rows, err := texts(ctx, conn, fmt.Sprintf(
		"select n, row(%[1]s)::text from (\n%[2]s\n) g where n <> 0 order by row(%[1]s)::text collate \"C\", 1 limit 12", names, c.bag()))
	var lines []string
	for _, row := range rows {
		n, _ := strconv.Atoi(row[0])
		text := "missing"
		if n < 0 {
			text, n = "surplus", -n
		}
		lines = append(lines, fmt.Sprintf("%s %d x %s", text, n, row[1]))
	}
	return lines, err
}

// shapeDifference says how the columns of a relation are others than those of a query.
func shapeDifference(want, got []column) string {
	if fmt.Sprint(want) == fmt.Sprint(got) {
		return ""
	}
	return fmt.Sprintf("the query has the columns %s, the relation %s", columnsText(want), columnsText(got))
}

func columnsText(columns []column) string {
	var list []string
	for _, c := range columns {
		text := strconv.Quote(c.name) + " " + c.typ
		if c.collation != "-" && c.collation != `"default"` {
			text += " collate " + c.collation
		}
		list = append(list, text)
	}
	return "(" + strings.Join(list, ", ") + ")"
}

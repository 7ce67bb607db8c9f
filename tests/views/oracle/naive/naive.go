// Package naive has subjects for the oracle: some that are right, and some that each have a fault that incremental maintenance
// is known for. With them the oracle is tested.
package naive

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/tests/views/oracle"
	"github.com/pgsluice/sluice/tests/views/oracle/cases"
	"github.com/pgsluice/sluice/tests/views/oracle/tree"
)

// Views is right: it keeps each stream table as a plain view.
type Views struct{ names }

// Install implements oracle.Subject.
func (Views) Install(ctx context.Context, conn *pgx.Conn, _ string, views []oracle.View, _ string) error {
	sql := ""
	for _, v := range views {
		sql += "create view " + v.Name + " as " + v.Query + ";\n"
	}
	return run(ctx, conn, sql)
}

// Refresh implements oracle.Subject.
func (Views) Refresh(context.Context, *pgx.Conn, string) error { return nil }

// names are those of relations that have the name of their view.
type names struct{}

// Relation implements oracle.Subject.
func (names) Relation(view string) string { return view }

func run(ctx context.Context, conn *pgx.Conn, sql string) error {
	return conn.PgConn().Exec(ctx, sql).Close()
}

// all says of all views that they are unsupported.
func all(views []oracle.View, reason string) oracle.Unsupported {
	u := oracle.Unsupported{}
	for _, v := range views {
		u[v.Name] = reason
	}
	return u
}

// columnsOf reads the names of a table's columns, as SQL writes them, and their types.
func columnsOf(ctx context.Context, conn *pgx.Conn, table string) (names, types []string, err error) {
	rows, err := conn.Query(ctx, `select quote_ident(attname), format_type(atttypid, atttypmod)
from pg_attribute where attrelid = $1::text::regclass and attnum > 0 order by attnum`, table)
	if err != nil {
		return nil, nil, err
	}
	for rows.Next() {
		var name, typ string
		if err := rows.Scan(&name, &typ); err != nil {
			return nil, nil, err
		}
		names, types = append(names, name), append(types, typ)
	}
	return names, types, rows.Err()
}

// tables are the tables that a query reads itself, each once.
func tables(v *cases.View) []string {
	var found []string
	for _, n := range reads(v.Query) {
		if name := strings.TrimPrefix(n.Tag, "table "); !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	return found
}

// reads are the places where a query reads tables.
func reads(query *tree.Node) []*tree.Node {
	var found []*tree.Node
	for n := range query.All() {
		if n.Sort == "relation" && strings.HasPrefix(n.Tag, "table ") {
			found = append(found, n)
		}
	}
	return found
}

// with is the query with another relation at one of the places where it reads one.
func with(query, place *tree.Node, relation string) string {
	return query.Render(func(n *tree.Node) (string, bool) { return relation, n == place })
}

// same is a condition that two rows agree in the columns: with = for is, nulls do not.
func same(a, b string, columns []string, is string) string {
	list := []string{"true"}
	for _, c := range columns {
		list = append(list, fmt.Sprintf("%s.%s %s %s.%[2]s", a, c, is, b))
	}
	return strings.Join(list, " and ")
}

const (
	equal = "="
	alike = "is not distinct from"
)

// removal deletes from a table as many copies of each row as the query has.
func removal(table string, columns []string, query, is string) string {
	list := strings.Join(columns, ", ")
	return fmt.Sprintf(`delete from %[1]s where ctid in (
select x.ctid
from (select ctid, *, row_number() over (partition by %[2]s) as oracle_copy from %[1]s) x
join (select %[2]s, count(*) as oracle_count from (%[3]s) y (%[2]s) group by %[2]s) d on %[4]s
where x.oracle_copy <= d.oracle_count);
`, table, list, query, same("x", "d", columns, is))
}

// columnsFirst lets names in PL/pgSQL that could be a variable's, as new and old are, be a column's.
const columnsFirst = "#variable_conflict use_column\n"

// trigger makes a statement trigger on a table that runs PL/pgSQL.
func trigger(name, table, event, referencing, options, body string) string {
	return fmt.Sprintf(`create function %[1]s() returns trigger language plpgsql as $oracle$
%[5]s
return null;
end $oracle$;
create trigger %[1]s after %[3]s on %[2]s %[4]s for each statement execute function %[1]s();
`, name, table, event, referencing, options+"begin\n"+body)
}

package verify

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Sizes of what is done.
const (
	firstRows  = 40 // into each table before the first round
	mostRows   = 6  // of a statement
	mostAtOnce = 6  // statements of a transaction
)

// changes writes tables at random.
type changes struct {
	conn   *pgx.Conn
	tables []*table
	random *rand.Rand
	next   int              // for values that have to be new
	done   int              // statements that the server took
	rows   map[*table]int   // that went in at first
	why    map[*table]error // the last refusal
}

func newChanges(conn *pgx.Conn, tables []*table, random *rand.Rand) *changes {
	return &changes{conn: conn, tables: tables, random: random, rows: map[*table]int{}, why: map[*table]error{}}
}

// fill puts rows into each table.
func (c *changes) fill(ctx context.Context) error {
	for _, t := range c.tables {
		for range firstRows {
			if err := c.transaction(ctx, func(tx pgx.Tx) error { return c.try(ctx, tx, t, c.insert(ctx, tx, t, 1)) }); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *changes) filled() string {
	rows := 0
	for _, n := range c.rows {
		rows += n
	}
	return diag.Count(rows, "row") + " in " + diag.Count(len(c.tables), "table")
}

// unfilled describes which tables took no row.
func (c *changes) unfilled() error {
	var all []string
	for _, t := range c.tables {
		if c.rows[t] == 0 {
			all = append(all, fmt.Sprintf("%s stayed empty: %v", t.name, c.why[t]))
		}
	}
	if len(all) > 0 {
		return notChecked(strings.Join(all, "\n"))
	}
	return nil
}

// round runs a transaction of several statements, which now and then is rolled back.
func (c *changes) round(ctx context.Context) error {
	if len(c.tables) == 0 {
		return nil
	}
	for range 1 + c.random.IntN(3) {
		err := c.transaction(ctx, func(tx pgx.Tx) error {
			for range 1 + c.random.IntN(mostAtOnce) {
				t := c.tables[c.random.IntN(len(c.tables))]
				if err := c.try(ctx, tx, t, c.statement(ctx, tx, t)); err != nil {
					return err
				}
			}
			if c.random.IntN(8) == 0 {
				return errUndo
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// errUndo rolls back on purpose.
var errUndo = errors.New("rolled back on purpose")

func (c *changes) transaction(ctx context.Context, body func(pgx.Tx) error) error {
	err := pgx.BeginFunc(ctx, c.conn, body)
	if refused(err) || errors.Is(err, errUndo) { // such as by a deferred constraint
		return nil
	}
	return err
}

// refused reports whether the server took exception to data: that is what constraints are for.
func refused(err error) bool {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return false
	}
	class := pg.Code[:2]
	return class == "22" || class == "23" || class == "44" || class == "P0"
}

// try runs a statement in a savepoint, and now and then undoes it.
func (c *changes) try(ctx context.Context, tx pgx.Tx, t *table, sql string) error {
	if sql == "" {
		return nil
	}
	rows := int64(0)
	undo := c.random.IntN(12) == 0
	err := pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, sql)
		if err == nil && undo {
			return errUndo
		}
		rows = tag.RowsAffected()
		return err
	})
	switch {
	case errors.Is(err, errUndo):
		return nil
	case refused(err):
		c.why[t] = err
		return nil
	case err != nil:
		return fmt.Errorf("%w\nin: %s", err, sql)
	}
	c.done++
	if strings.HasPrefix(sql, "insert ") {
		c.rows[t] += int(rows)
	}
	return nil
}

// statement is any change of a table.
func (c *changes) statement(ctx context.Context, tx pgx.Tx, t *table) string {
	switch n := c.random.IntN(100); {
	case n < 45:
		return c.insert(ctx, tx, t, 1+c.random.IntN(mostRows))
	case n < 75:
		return c.update(ctx, tx, t)
	case n < 98:
		return "delete from " + t.name + c.some(t, 1+c.random.IntN(3))
	default:
		return "truncate " + t.name + " cascade"
	}
}

// insert adds rows. Those that a key refuses are left out.
func (c *changes) insert(ctx context.Context, tx pgx.Tx, t *table, count int) string {
	var columns []*tableColumn
	var names []string
	for _, column := range t.columns {
		if column.HasDefault && c.random.IntN(4) == 0 && !column.Unique || len(column.values) == 0 && !column.Unique {
			continue
		}
		columns = append(columns, column)
		names = append(names, sqltext.Ident(column.Name))
	}
	if len(columns) == 0 {
		return "insert into " + t.name + " default values"
	}
	var rows []string
	for range count {
		parents := c.parents(ctx, tx, t)
		var values []string
		for _, column := range columns {
			values = append(values, c.value(column, parents))
		}
		rows = append(rows, "("+strings.Join(values, ", ")+")")
	}
	return fmt.Sprintf("insert into %s (%s) values %s on conflict do nothing", t.name, strings.Join(names, ", "), strings.Join(rows, ", "))
}

func (c *changes) update(ctx context.Context, tx pgx.Tx, t *table) string {
	if len(t.columns) == 0 {
		return ""
	}
	parents := c.parents(ctx, tx, t)
	var sets []string
	for _, n := range c.random.Perm(len(t.columns))[:1+c.random.IntN(min(3, len(t.columns)))] {
		column := t.columns[n]
		if len(column.values) > 0 || column.Unique {
			sets = append(sets, sqltext.Ident(column.Name)+" = "+c.value(column, parents))
		}
	}
	if len(sets) == 0 {
		return ""
	}
	return "update " + t.name + " set " + strings.Join(sets, ", ") + c.some(t, 1+c.random.IntN(4))
}

// some is a condition for a few rows, the same in each run with one seed.
func (c *changes) some(t *table, count int) string {
	return fmt.Sprintf(" where (tableoid, ctid) in (select s.tableoid, s.ctid from %s s order by md5(s::text || '%d'), s::text limit %d)", t.name, c.random.IntN(1<<30), count)
}

// parents picks, for each column of a foreign key, the value of a row that is referred to.
func (c *changes) parents(ctx context.Context, tx pgx.Tx, t *table) map[string]string {
	picked := map[string]string{}
	for _, r := range t.refers {
		var columns, conds []string
		for _, name := range r.Refers {
			columns = append(columns, sqltext.Ident(name)+"::text")
			conds = append(conds, sqltext.Ident(name)+" is not null")
		}
		var values []string
		sql := fmt.Sprintf("select array[%s] from %s p where %s order by md5(p::text || '%d') limit 1", strings.Join(columns, ", "), r.Table, strings.Join(conds, " and "), c.random.IntN(1<<30))
		if err := tx.QueryRow(ctx, sql).Scan(&values); err != nil {
			continue // there is none, or it cannot be read
		}
		for n, name := range r.Columns {
			picked[name] = values[n]
		}
	}
	return picked
}

// value is one for a column, as SQL.
func (c *changes) value(column *tableColumn, parents map[string]string) string {
	if !column.NotNull && c.random.IntN(8) == 0 {
		return "null"
	}
	if text, ok := parents[column.Name]; ok {
		return typed(text, column.Type)
	}
	if column.Unique && (len(column.values) < 30 || c.random.IntN(2) == 0) && len(column.Labels) == 0 && c.random.IntN(5) > 0 {
		c.next++
		if text := distinct(column, c.next%200); text != "" {
			return typed(text, column.Type)
		}
	}
	if len(column.values) == 0 {
		return "default"
	}
	return typed(column.values[c.random.IntN(len(column.values))], column.Type)
}

func typed(text, typ string) string { return sqltext.Literal(text) + "::" + typ }

// distinct is the n-th of many values of a type; empty if it is one that has few.
func distinct(column *tableColumn, n int) string {
	switch column.Base {
	case "smallint", "integer", "bigint", "numeric", "real", "double precision":
		return fmt.Sprint(n)
	case "text", "character varying", "character", "name", "citext":
		return fmt.Sprintf("k%d", n)
	case "uuid":
		return fmt.Sprintf("00000000-0000-0000-0000-%012d", n)
	case "date", "timestamp without time zone", "timestamp with time zone":
		return fmt.Sprintf("2024-%02d-%02d", 1+n/28%12, 1+n%28)
	case "bytea":
		return fmt.Sprintf(`\x%04x`, n)
	case "jsonb":
		return fmt.Sprintf(`{"k": %d}`, n)
	case "inet", "cidr":
		return fmt.Sprintf("10.0.%d.%d", n/250, n%250)
	}
	return ""
}

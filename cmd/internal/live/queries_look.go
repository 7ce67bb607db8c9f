package live

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/generator/plan"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// look compares the probe of a query with what the generated SQL takes for granted.
func (i *inquiry) look(ctx context.Context, n int) error {
	q := &i.queries[n]
	columns, err := i.columns(ctx, q)
	if err != nil {
		return err
	}
	if !q.Whole && !slices.Equal(columns, q.Columns) {
		i.errs.Add(otherColumns(q, columns))
	}
	for _, index := range q.Indexed {
		if q.Whole && !slices.Contains(columns, index.Name) {
			i.errs.Add(noIndexed(q, index, columns))
		}
	}
	if err := i.unsorted(ctx, q); err != nil {
		return err
	}
	return i.functions(ctx, q)
}

// unsortedQuery finds the columns of a view that no b-tree index takes. A type may be indexed as another one of which it has the representation.
const unsortedQuery = `
select a.attname::text, format_type(a.atttypid, null)
from pg_attribute a
join pg_type t on t.oid = a.atttypid and t.typtype = 'b' and t.typcategory <> 'A'
where a.attrelid = $1::regclass and a.attnum > 0 and not exists (
    select
    from pg_opclass o
    join pg_am m on m.oid = o.opcmethod and m.amname = 'btree'
    where o.opcdefault and (o.opcintype = t.oid or exists (
        select
        from pg_cast c
        where c.castsource = t.oid and c.casttarget = o.opcintype and c.castmethod = 'b' and c.castcontext = 'i'
    ))
)`

// unsorted reports indexes that the server would refuse.
func (i *inquiry) unsorted(ctx context.Context, q *plan.Query) error {
	if len(q.Indexed) == 0 {
		return nil
	}
	rows, err := i.tx.Query(ctx, unsortedQuery, "pg_temp."+sqltext.Ident(q.Probe))
	if err != nil {
		return err
	}
	var column, typ string
	_, err = pgx.ForEachRow(rows, []any{&column, &typ}, func() error {
		for _, index := range q.Indexed {
			if index.Name == column {
				i.errs.Add(plan.Unindexable(index.At, typ))
			}
		}
		return nil
	})
	return err
}

func (i *inquiry) columns(ctx context.Context, q *plan.Query) ([]string, error) {
	rows, err := i.tx.Query(ctx, "select a.attname::text from pg_attribute a where a.attrelid = $1::regclass and a.attnum > 0 order by a.attnum", "pg_temp."+sqltext.Ident(q.Probe))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// calledQuery finds the functions that a view calls, itself, by operators and casts, and in views that it reads. PostgreSQL's own are not recorded.
const calledQuery = `
with recursive
views as (
    select $1::regclass::oid as oid
    union
    select d.refobjid
    from views v
    join pg_rewrite r on r.ev_class = v.oid
    join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid and d.refclassid = 'pg_class'::regclass
    join pg_class c on c.oid = d.refobjid and c.relkind = 'v'
),
used as (
    select d.refclassid, d.refobjid
    from views v
    join pg_rewrite r on r.ev_class = v.oid
    join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid
),
called as (
    select u.refobjid as oid from used u where u.refclassid = 'pg_proc'::regclass
    union
    select o.oprcode from used u join pg_operator o on o.oid = u.refobjid where u.refclassid = 'pg_operator'::regclass
)
select p.proname::text,
       p.provolatile = 'v',
       case when l.lanname not in ('c', 'internal') and p.prokind = 'f' then pg_get_functiondef(p.oid) else '' end
from called
join pg_proc p using (oid)
join pg_language l on l.oid = p.prolang
where p.proname <> 'checked_filled' -- of views of stream tables: the rows that these show are the same whenever they can be read
order by 1, 3`

// functions reports functions with which no stored result stays what the query is, as far as DDL does not show them.
func (i *inquiry) functions(ctx context.Context, q *plan.Query) error {
	rows, err := i.tx.Query(ctx, calledQuery, "pg_temp."+sqltext.Ident(q.Probe))
	if err != nil {
		return err
	}
	var name, definition string
	var volatile bool
	_, err = pgx.ForEachRow(rows, []any{&name, &volatile, &definition}, func() error {
		if volatile {
			i.errs.Add(volatileFunction(q, name))
		} else if body := sqltext.FunctionBodyOf(definition); q.Followed && (len(body.Tables) > 0 || body.Dynamic) {
			i.errs.Add(readingFunction(q, name, body))
		}
		return nil
	})
	return err
}

// mentioned is where a query mentions a name; its beginning if it does not.
func mentioned(q *plan.Query, name string) diag.Pos {
	for _, found := range sqltext.Names(q.Text.Text) {
		if found.Name == name {
			return q.Text.Pos(found.Offset)
		}
	}
	return q.Text.Pos(0)
}

func refusedByServer(at diag.Pos, pg *pgconn.PgError) diag.Error {
	message := pg.Message
	if pg.Detail != "" {
		message += " (" + strings.TrimSuffix(pg.Detail, ".") + ")"
	}
	return diag.Error{Pos: at, Code: pg.Code, Message: message, Hint: pg.Hint}
}

func otherColumns(q *plan.Query, columns []string) diag.Error {
	return diag.Error{
		Pos: q.Text.Pos(0), Code: "column-names",
		Message: fmt.Sprintf("the result has the columns %s here, and not %s, which the generated SQL is for", strings.Join(columns, ", "), strings.Join(q.Columns, ", ")),
		Hint:    "name them with AS",
	}
}

func noIndexed(q *plan.Query, index plan.Indexed, columns []string) diag.Error {
	e := diag.Error{
		Pos: index.At, Code: "unknown-column",
		Message: fmt.Sprintf("column %q does not exist in stream table %s", index.Name, q.Name),
		Hint:    "its columns are " + strings.Join(columns, ", "),
	}
	if near := diag.Nearest(index.Name, columns); near != "" {
		e.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	return e
}

func volatileFunction(q *plan.Query, name string) diag.Error {
	return diag.Error{
		Pos: mentioned(q, name), Code: "volatile",
		Message: fmt.Sprintf("%s() is volatile in this database, so no stored result can equal the query", name),
		Hint:    "compute it where the stream table is read; if it always gives the same result, declare it STABLE or IMMUTABLE",
	}
}

func readingFunction(q *plan.Query, name string, body sqltext.FunctionBody) diag.Error {
	what := "runs statements that it makes"
	if len(body.Tables) > 0 {
		what = "reads " + strings.TrimPrefix(body.Tables[0].Schema+"."+body.Tables[0].Name, ".")
	}
	return diag.Error{
		Pos: mentioned(q, name), Code: "not-incremental",
		Message: fmt.Sprintf("function %s() %s in this database, and changes of what it reads are not followed", name, what),
		Hint:    "use refresh_mode full, or put the function into the DDL that the spec names",
	}
}

package live

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/plan"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// The compiler knows what DDL says and the grammar. Whether functions and operators fit their arguments, constants their types, and what functions of
// extensions return, only the server knows. So it is asked to make a view of each query before anything is changed, and what it says is reported at the
// query's place.

// inquiry asks a server about the queries of an extension, in a subtransaction that leaves nothing behind.
type inquiry struct {
	tx      pgx.Tx
	queries []plan.Query
	errs    *diag.List
	state   []asked
	there   map[sqltext.Relation][]string // the columns of relations that DDL knows and the database has
}

// asked is what is known of a query.
type asked int

const (
	unasked  asked = iota
	accepted       // its probe is there
	refused        // which was reported
	left           // it reads what is not there, or is other than DDL says: that is found out when it is followed
)

// Ask reports what the server finds wrong with the queries of an extension, and changes nothing.
func Ask(ctx context.Context, conn *pgx.Conn, e *generator.Extension) (*diag.List, error) {
	wrong := &diag.List{}
	err := readCommitted(ctx, conn, func(tx pgx.Tx) error { return askAbout(ctx, tx, e.Queries) })
	if errors.As(err, &wrong) {
		return wrong, nil
	}
	return wrong, err
}

// askAbout reports what is wrong with queries. Who may make no temporary objects hears of it when they are filled.
func askAbout(ctx context.Context, tx pgx.Tx, queries []plan.Query) error {
	if len(queries) == 0 {
		return nil
	}
	var may bool
	if err := tx.QueryRow(ctx, "select has_database_privilege(current_database(), 'TEMP')").Scan(&may); err != nil || !may {
		return err
	}
	i := &inquiry{tx: tx, queries: queries, errs: &diag.List{}, state: make([]asked, len(queries))}
	if err := i.exec(ctx, "savepoint sluice_queries"); err != nil {
		return err
	}
	err := i.all(ctx)
	if undo := i.exec(ctx, "rollback to savepoint sluice_queries; release savepoint sluice_queries"); err == nil {
		err = undo
	}
	if err == nil && !i.errs.Empty() {
		return i.errs
	}
	return err
}

// exec runs statements without waiting for results in between.
func (i *inquiry) exec(ctx context.Context, sql string) error {
	_, err := i.tx.Conn().PgConn().Exec(ctx, sql).ReadAll()
	return err
}

func (i *inquiry) all(ctx context.Context) error {
	if err := i.exec(ctx, "set local client_min_messages = error"); err != nil {
		return err
	}
	if err := i.readThere(ctx); err != nil {
		return err
	}
	for n := range i.queries {
		if err := i.ask(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

const thereQuery = `
select r.schema, r.name,
       array(select a.attname::text from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped)
from unnest($1::text[], $2::text[]) r(schema, name)
join pg_namespace n on n.nspname = r.schema
join pg_class c on c.relnamespace = n.oid and c.relname = r.name`

// readThere finds out what the database has of the relations that queries read.
func (i *inquiry) readThere(ctx context.Context) error {
	var schemas, names []string
	for _, q := range i.queries {
		for _, r := range q.Reads {
			schemas, names = append(schemas, r.Relation.Schema), append(names, r.Relation.Name)
		}
	}
	i.there = map[sqltext.Relation][]string{}
	rows, err := i.tx.Query(ctx, thereQuery, schemas, names)
	if err != nil {
		return err
	}
	var r sqltext.Relation
	var columns []string
	_, err = pgx.ForEachRow(rows, []any{&r.Schema, &r.Name, &columns}, func() error {
		i.there[r] = columns
		return nil
	})
	return err
}

// fits reports whether what a query reads is there, with the columns that DDL gives it. What is missing is reported when it is followed.
func (i *inquiry) fits(q *plan.Query) bool {
	return !slices.ContainsFunc(q.Reads, func(r plan.Relied) bool {
		columns, there := i.there[r.Relation]
		return !there || slices.ContainsFunc(r.Columns, func(c string) bool { return !slices.Contains(columns, c) })
	})
}

// ask makes a probe of one query, a temporary view, and looks at it.
func (i *inquiry) ask(ctx context.Context, n int) error {
	q := &i.queries[n]
	for _, m := range q.Upstream {
		if i.state[m] != accepted {
			i.state[n] = left
			return nil
		}
	}
	if !i.fits(q) {
		i.state[n] = left
		return nil
	}
	text, original := sqltext.RenameTablesAt(sqltext.Body(q.Text.Text), func(schema, name string) (string, string, bool) {
		written := sqltext.Relation{Schema: schema, Name: name}
		if m, ok := q.Upstream[written]; ok {
			return "pg_temp", i.queries[m].Probe, true
		}
		table, ok := q.Tables[written]
		return table.Schema, table.Name, ok
	})
	head := "create temporary view " + sqltext.Qualified("pg_temp", q.Probe) + " as\n"
	// The query alone sees its path, where names are not looked up among the probes.
	if err := i.exec(ctx, "savepoint sluice_query; set local search_path = "+q.SearchPath); err != nil {
		return err
	}
	err := i.exec(ctx, head+text)
	if err == nil {
		err = i.exec(ctx, setOwnPath)
	}
	var pg *pgconn.PgError
	switch {
	case err == nil:
		i.state[n] = accepted
		return i.look(ctx, n)
	case errors.As(err, &pg) && pg.Code == "42501": // insufficient_privilege
		i.state[n] = left
		return i.exec(ctx, "rollback to savepoint sluice_query")
	case !errors.As(err, &pg) || !ofQuery(pg.Code):
		return err
	}
	i.state[n] = refused
	at := q.Text.Pos(0)
	if position := int(pg.Position) - 1 - len([]rune(head)); position >= 0 {
		at = q.Text.Pos(original(len(string([]rune(text)[:min(position, len([]rune(text)))]))))
	}
	i.errs.Add(refusedByServer(at, pg))
	return i.exec(ctx, "rollback to savepoint sluice_query")
}

// ofQuery reports whether an error says something of a statement, and not of the server or of who runs it.
func ofQuery(code string) bool {
	return slices.ContainsFunc([]string{"42", "22", "0A", "2B", "54", "21", "20"}, func(class string) bool { return strings.HasPrefix(code, class) })
}

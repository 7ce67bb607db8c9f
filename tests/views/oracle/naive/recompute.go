package naive

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/tests/views/oracle"
)

// Recompute keeps each stream table as a table that it fills again: in immediate mode after each statement that changes a table,
// in differential mode by Refresh, if a log says that there was such a statement. Without a fault it is right.
type Recompute struct {
	names
	Fault RecomputeFault

	seen map[string]int64 // of ClientFrontier
}

// RecomputeFault is a fault that Recompute may have.
type RecomputeFault string

// The faults of Recompute.
const (
	IgnoresTruncate  RecomputeFault = "ignores truncate"
	DuplicatesAsOne  RecomputeFault = "treats duplicates as one"
	NullsDiffer      RecomputeFault = "deletes rows by =, and so none with nulls"
	ClientFrontier   RecomputeFault = "keeps the frontier where no rollback reaches it"
	TransactionsOnce RecomputeFault = "takes a transaction as done once it has seen some of it"
	NamesClash       RecomputeFault = "takes a column for a variable of its own"
	OtherTypes       RecomputeFault = "makes integers bigint"
)

// Install implements oracle.Subject.
func (r *Recompute) Install(ctx context.Context, conn *pgx.Conn, _ string, views []oracle.View, mode string) error {
	r.seen = map[string]int64{}
	if mode == oracle.Immediate && (r.Fault == ClientFrontier || r.Fault == TransactionsOnce) {
		return all(views, "a frontier is for differential mode")
	}
	return inTransaction(ctx, conn, func() error {
		sources, err := sources(ctx, conn)
		if err != nil {
			return err
		}
		calls := "insert into oracle_log default values;"
		if mode == oracle.Immediate {
			calls = ""
		}
		for _, v := range views {
			if err := r.table(ctx, conn, v); err != nil {
				return err
			}
			switch {
			case r.Fault == NamesClash && mode == oracle.Immediate:
				calls += r.all(v)
			case mode == oracle.Immediate:
				calls += "perform oracle_fill_" + v.Name + "();\n"
			}
		}
		return run(ctx, conn, logTables+r.triggers(sources, calls))
	})
}

const logTables = `
create table oracle_log (id bigint generated always as identity, xid xid8 default pg_current_xact_id());
create table oracle_frontier (view text, id bigint, xid xid8);
`

// inTransaction installs all or nothing.
func inTransaction(ctx context.Context, conn *pgx.Conn, install func() error) error {
	if err := run(ctx, conn, "begin"); err != nil {
		return err
	}
	if err := install(); err != nil {
		if undo := run(ctx, conn, "rollback"); undo != nil {
			return undo
		}
		return err
	}
	return run(ctx, conn, "commit")
}

// sources are all tables of the application. A statement on a partitioned table fires its triggers only, not those of its partitions.
func sources(ctx context.Context, conn *pgx.Conn) ([]string, error) {
	rows, err := conn.Query(ctx, `select oid::regclass::text from pg_class
where relkind in ('r', 'p') and relnamespace not in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace) order by oid`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// table makes a table for a view, and a function that fills it.
func (r *Recompute) table(ctx context.Context, conn *pgx.Conn, v oracle.View) error {
	if err := run(ctx, conn, "create table "+v.Name+" as "+v.Query); err != nil {
		return err
	}
	columns, types, err := columnsOf(ctx, conn, v.Name)
	if err != nil {
		return err
	}
	for i, typ := range types {
		if typ == "json" && r.Fault != "" {
			return oracle.Unsupported{v.Name: "json has no equality"}
		}
		if typ == "integer" && r.Fault == OtherTypes {
			if err := run(ctx, conn, "alter table "+v.Name+" alter column "+columns[i]+" type bigint"); err != nil {
				return err
			}
		}
	}
	return run(ctx, conn, fmt.Sprintf("create function oracle_fill_%s() returns void language plpgsql as $oracle$\n%sbegin\n%s\nend $oracle$;\n",
		v.Name, columnsFirst, r.fill(v, columns)))
}

// fill is what fills a table.
func (r *Recompute) fill(v oracle.View, columns []string) string {
	list := strings.Join(columns, ", ")
	switch r.Fault {
	case DuplicatesAsOne:
		return fmt.Sprintf(`insert into %[1]s select * from (%[2]s) q except select * from %[1]s;
delete from %[1]s where not exists (select from (%[2]s) q (%[3]s) where %[4]s);`, v.Name, v.Query, list, same("q", v.Name, columns, alike))
	case NullsDiffer:
		surplus := fmt.Sprintf("select * from %s except all (%s)", v.Name, v.Query)
		return fmt.Sprintf("insert into %[1]s (%[2]s) except all select * from %[1]s;\n", v.Name, v.Query) + removal(v.Name, columns, surplus, equal)
	}
	return r.all(v)
}

// all is what fills a table from nothing.
func (r *Recompute) all(v oracle.View) string {
	return "delete from " + v.Name + ";\ninsert into " + v.Name + " " + v.Query + ";\n"
}

func (r *Recompute) triggers(sources []string, body string) string {
	sql, options := "", columnsFirst
	if r.Fault == NamesClash {
		options = ""
	}
	for i, table := range sources {
		name := fmt.Sprintf("oracle_change_%d", i)
		sql += trigger(name, table, "insert or update or delete", "", options, body)
		if r.Fault != IgnoresTruncate {
			sql += trigger(name+"_truncate", table, "truncate", "", options, body)
		}
	}
	return sql
}

// Refresh implements oracle.Subject.
func (r *Recompute) Refresh(ctx context.Context, conn *pgx.Conn, view string) error {
	fill := "perform oracle_fill_" + view + "();"
	note := "delete from oracle_frontier where view = '" + view + "'; insert into oracle_frontier select '" + view + "', max(id), max(xid) from oracle_log;"
	switch r.Fault {
	case ClientFrontier:
		return r.unlessSeen(ctx, conn, view, "select oracle_fill_"+view+"()")
	case TransactionsOnce:
		return run(ctx, conn, ifBehind(view, "xid")+fill+note+"end if; end $$")
	}
	return run(ctx, conn, ifBehind(view, "id")+fill+note+"end if; end $$")
}

func ifBehind(view, column string) string {
	return fmt.Sprintf("do $$ begin if exists (select from oracle_log where not exists (select from oracle_frontier f where f.view = '%s' and oracle_log.%[2]s <= f.%[2]s)) then ", view, column)
}

// unlessSeen keeps what it has seen in the client's memory.
func (r *Recompute) unlessSeen(ctx context.Context, conn *pgx.Conn, view, sql string) error {
	var last int64
	if err := conn.QueryRow(ctx, "select coalesce(max(id), 0) from oracle_log").Scan(&last); err != nil || last <= r.seen[view] {
		return err
	}
	r.seen[view] = last
	return run(ctx, conn, sql)
}

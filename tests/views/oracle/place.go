package oracle

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// Place is a database in which cases run, one after another.
type Place struct {
	Major int
	dsn   string
	owner *pgx.Conn // does everything
	super *pgx.Conn // cleans up

	beside *pgx.Conn // another session of the owner's; nil until a case needs it
}

// NewPlace makes a database for the test.
func NewPlace(t testing.TB) *Place {
	t.Helper()
	db := pgtest.DB(t)
	// No statements are kept on the client's side, as what they are about goes away.
	exec := "default_query_exec_mode=exec"
	// A view of a random case that takes longer has no index, and no one who waits for it.
	p := &Place{Major: db.Server.Major, dsn: db.DSN(exec, "jit=off", "statement_timeout=30s"), super: pgtest.Connect(t, db.SuperDSN(exec))}
	if err := p.reconnect(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.owner.Close(context.Background())
		_ = p.leaveBeside(context.Background())
	})
	return p
}

// reconnect gives the owner a session of its own: a session keeps the functions of every case that it ran.
func (p *Place) reconnect(ctx context.Context) (err error) {
	if p.owner != nil {
		p.owner.Close(ctx)
	}
	p.owner, err = pgx.Connect(ctx, p.dsn)
	return err
}

// clean removes everything that is in the database.
const clean = `
do $clean$
declare name name;
begin
    set local client_min_messages = error;
    for name in select nspname from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema' loop
        execute format('drop schema %I cascade', name);
    end loop;
    create schema public;
    grant all on schema public to owner;
end $clean$`

// Reset brings the database back to where it was.
func (p *Place) Reset(ctx context.Context) error {
	if err := p.leaveBeside(ctx); err != nil {
		return err
	}
	if err := p.reconnect(ctx); err != nil {
		return err
	}
	return run(ctx, p.super, clean)
}

// leaveBeside ends the other session.
func (p *Place) leaveBeside(ctx context.Context) error {
	if p.beside == nil {
		return nil
	}
	conn := p.beside
	p.beside = nil
	return conn.Close(ctx)
}

// run executes statements as psql does, without waiting for results in between.
func run(ctx context.Context, conn *pgx.Conn, sql string) error {
	return conn.PgConn().Exec(ctx, sql).Close()
}

// state is the SQLSTATE of an error of the server, empty for none.
func state(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return ""
}

// texts runs a query and returns its rows as PostgreSQL writes them.
func texts(ctx context.Context, conn *pgx.Conn, sql string) ([][]string, error) {
	results, err := conn.PgConn().Exec(ctx, sql).ReadAll()
	if err != nil || len(results) == 0 {
		return nil, err
	}
	var rows [][]string
	for _, values := range results[len(results)-1].Rows {
		var row []string
		for _, value := range values {
			row = append(row, string(value))
		}
		rows = append(rows, row)
	}
	return rows, nil
}

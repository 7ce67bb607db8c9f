// Package postgres takes events from outboxes and stores events in inboxes.
//
// Files call downwards: peek, outbox, settle, poll, parts, inbox, listen, holder, database.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// closeWithin is how long the end of a connection may take.
const closeWithin = time.Second

// Database is the extension of a schema, in one database.
type Database struct {
	pool   *pgxpool.Pool
	schema string // quoted
}

// Open prepares connections; none is made before one is used. They prepare no named statements, so that transaction-pooling proxies can be between.
func Open(dsn, schema string, connections int) (*Database, error) {
	c, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, errors.New("invalid database: neither a URL nor a key=value string of PostgreSQL") // the parser's error may show the password
	}
	c.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	if c.ConnConfig.RuntimeParams["application_name"] == "" {
		c.ConnConfig.RuntimeParams["application_name"] = "sluice relay"
	}
	c.MaxConns = int32(connections)
	pool, err := pgxpool.NewWithConfig(context.Background(), c)
	if err != nil {
		return nil, plain(err)
	}
	return &Database{pool: pool, schema: pgx.Identifier{schema}.Sanitize()}, nil
}

// Close ends all connections. It does not wait for those whose server does not answer.
func (d *Database) Close() {
	closed := make(chan struct{})
	go func() {
		d.pool.Close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(closeWithin):
	}
}

// sql puts the schema in the place of %s.
func (d *Database) sql(text string) string { return strings.ReplaceAll(text, "%s", d.schema) }

// Check says whether the database can be reached and has the extension.
func (d *Database) Check(ctx context.Context) error {
	var there bool
	err := d.pool.QueryRow(ctx, "select pg_catalog.to_regclass($1) is not null", d.schema+".pgt_extension").Scan(&there)
	if err == nil && !there {
		return fmt.Errorf("schema %s has no extension of sluice", d.schema)
	}
	return plain(err)
}

// session runs statements: a pool or a transaction.
type session interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// try runs body in a transaction that it rolls back.
func (d *Database) try(ctx context.Context, body func(session) error) error {
	tx, err := d.pool.Begin(ctx)
	if err != nil {
		return plain(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	return body(tx)
}

// finishing is ctx, but ends up to five seconds later. The server may still commit a statement that was cancelled, after those that follow: a poll would
// make a consumer that has left its group a member again.
func finishing(ctx context.Context) (context.Context, context.CancelFunc) {
	later, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(5*time.Second, cancel) })
	return later, func() { stop(); cancel() }
}

// exec runs a statement with the schema in the place of %s.
func (d *Database) exec(ctx context.Context, sql string, args ...any) error {
	ctx, cancel := finishing(ctx)
	defer cancel()
	_, err := d.pool.Exec(ctx, d.sql(sql), args...)
	return plain(err)
}

// Failure is an error of the server.
type Failure struct{ Message, Detail, Code string }

func (f Failure) Error() string {
	if f.Detail == "" {
		return fmt.Sprintf("%s (SQLSTATE %s)", f.Message, f.Code)
	}
	return fmt.Sprintf("%s: %s (SQLSTATE %s)", f.Message, f.Detail, f.Code)
}

// plain is an error without the connection string, which may hold a password.
func plain(err error) error {
	var failed *pgconn.PgError
	var refused *pgconn.ConnectError
	switch {
	case errors.As(err, &failed):
		detail := failed.Detail
		if strings.HasPrefix(detail, "Failing row contains") { // its values are not for logs
			detail = ""
		}
		return Failure{failed.Message, detail, failed.Code}
	case errors.As(err, &refused):
		return fmt.Errorf("cannot connect to database %s at %s: %w", refused.Config.Database, refused.Config.Host, errors.Unwrap(refused))
	}
	return err
}

// isLost reports whether a lease went to another consumer.
func isLost(err error) bool {
	var failed Failure
	return errors.As(err, &failed) && failed.Code == "55000" && strings.HasPrefix(failed.Message, "lease lost")
}

package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

//go:embed plain.sql
var plainSQL string

const database = "bench"

// stage is the server with both sides on it.
type stage struct{ server *commandtest.Server }

// dsn is the way to the database; parameters are settings of the session.
func (s stage) dsn(params ...string) string { return s.server.DSN(database, params...) }

// build starts the server and installs both sides. commandtest.Cleanup ends it.
func build(ctx context.Context, cfg config, log io.Writer) (stage, error) {
	extension, err := commandtest.Sample("shop")
	if err != nil {
		return stage{}, err
	}
	install, err := commandtest.Finder{Progress: log}.Find(ctx, "")
	if err != nil {
		return stage{}, err
	}
	server, err := commandtest.Start(ctx, commandtest.ServerOptions{Install: install, Durable: true, Settings: map[string]string{
		"shared_buffers":     cfg.Buffers,
		"max_wal_size":       "8GB", // checkpoints come when the benchmark asks for them
		"checkpoint_timeout": "30min",
	}})
	if err != nil {
		return stage{}, err
	}
	s := stage{server}
	err = connected(ctx, server.DSN("postgres"), func(conn *pgx.Conn) error {
		sql := "create database " + database
		if cfg.Locale != "" {
			sql += " template template0 locale_provider icu icu_locale " + sqltext.Literal(cfg.Locale)
		}
		return execute(ctx, conn, sql)
	})
	if err != nil {
		return stage{}, err
	}
	return s, connected(ctx, s.dsn(), func(conn *pgx.Conn) error {
		if _, err := conn.PgConn().Exec(ctx, plainSQL).ReadAll(); err != nil {
			return err
		}
		_, err := commandtest.Apply(ctx, conn, extension, commandtest.ApplyOptions{})
		return err
	})
}

// connected lends a connection of its own to body.
func connected(ctx context.Context, dsn string, body func(*pgx.Conn) error) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return body(conn)
}

// execute runs statements that return nothing, one after the other.
func execute(ctx context.Context, conn *pgx.Conn, statements ...string) error {
	for _, sql := range statements {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	return nil
}

// fresh empties the tables of the sides.
func (s stage) fresh(ctx context.Context, sides ...side) error {
	return connected(ctx, s.dsn(), func(conn *pgx.Conn) error {
		for _, x := range sides {
			if err := execute(ctx, conn, "truncate "+x.table); err != nil {
				return err
			}
		}
		return nil
	})
}

// tidy brings the server to the state in which every turn starts.
func (s stage) tidy(ctx context.Context, sides ...side) error {
	return connected(ctx, s.dsn(), func(conn *pgx.Conn) error {
		for _, x := range sides {
			if err := execute(ctx, conn, "vacuum analyze "+x.table); err != nil {
				return err
			}
		}
		return execute(ctx, conn, "checkpoint")
	})
}

// tick does the background work a number of times.
func (s stage) tick(ctx context.Context, times int) error {
	return connected(ctx, s.dsn(), func(conn *pgx.Conn) error {
		for range times {
			if err := execute(ctx, conn, "call pgtrickle.tick()"); err != nil {
				return err
			}
		}
		return nil
	})
}

// count returns a number from the database.
func (s stage) count(ctx context.Context, sql string) (n int64, err error) {
	err = connected(ctx, s.dsn(), func(conn *pgx.Conn) error {
		return conn.QueryRow(ctx, sql).Scan(&n)
	})
	return n, err
}

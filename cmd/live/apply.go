// Package live talks to running servers: it installs, uninstalls and drives what the generator made.
package live

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Installed is what pgt_extension says of an extension; the zero value means that there is none.
type Installed struct {
	Name, Version, Digest string
	Flavour               generator.Flavour
}

// Refusal is a reason not to touch the database that the caller can do something about.
type Refusal struct{ Message, Hint string }

func (r Refusal) Error() string { return r.Message }

// Connect opens a connection that works through a transaction-pooling proxy: it prepares no named statements.
func Connect(ctx context.Context, dsn string) (*pgx.Conn, error) {
	return ConnectNoticing(ctx, dsn, nil)
}

// ConnectNoticing is Connect for somebody who takes what the server says beside results.
func ConnectNoticing(ctx context.Context, dsn string, notice func(*pgconn.Notice)) (*pgx.Conn, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	if notice != nil {
		config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { notice(n) }
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	return pgx.ConnectConfig(ctx, config)
}

// Apply installs an extension in one transaction, and fills its stream tables afterwards. It returns false if that very version is
// installed already.
func Apply(ctx context.Context, conn *pgx.Conn, e *generator.Extension, flavour generator.Flavour) (bool, error) {
	return ApplyTelling(ctx, conn, e, flavour, nil)
}

// ApplyTelling is Apply, telling how filling goes.
func ApplyTelling(ctx context.Context, conn *pgx.Conn, e *generator.Extension, flavour generator.Flavour, filling *Filling) (bool, error) {
	changed := false
	err := inTransaction(ctx, conn, e.Schema, func(tx pgx.Tx) error {
		found, err := installed(ctx, tx, e.Schema)
		if err != nil || found.Digest == e.Digest() && found.Name == e.Name {
			return err
		}
		if found.Name != "" {
			return occupied(found, e)
		}
		changed = true
		return install(ctx, tx, e, flavour)
	})
	if err == nil && e.Fill() != "" { // also where an earlier run installed and did not come to this
		stop := filling.Watch(ctx, conn.PgConn().PID())
		_, err = conn.Exec(ctx, e.Fill(), pgx.QueryExecModeSimpleProtocol)
		stop()
	}
	return changed && err == nil, err
}

// ApplyScript is what Apply would run, as a script for psql.
func ApplyScript(e *generator.Extension, flavour generator.Flavour) string {
	return fmt.Sprintf("\\set ON_ERROR_STOP on\nbegin;\n%s;\n\n%s\ncommit;\n%s",
		lockFor(e.Schema), installScript(e, flavour), e.Fill())
}

// lockFor serialises installers of one schema; the lock ends with the transaction, so a pooler does not matter.
func lockFor(schema string) string {
	return fmt.Sprintf("select pg_advisory_xact_lock(hashtext('sluice apply'), hashtext(%s))", sqltext.Literal(schema))
}

func installScript(e *generator.Extension, flavour generator.Flavour) string {
	if flavour == generator.AsExtension {
		return fmt.Sprintf("create extension %s version %s;\n%s", sqltext.Ident(e.Name), sqltext.Literal(e.Version), e.Attach(true))
	}
	var script strings.Builder
	for n, step := range e.Steps(flavour, true) {
		if n > 0 {
			script.WriteString("\n")
		}
		script.WriteString(step.SQL)
	}
	return script.String()
}

// install runs the steps one by one, so that an error tells which object it is about.
func install(ctx context.Context, tx pgx.Tx, e *generator.Extension, flavour generator.Flavour) error {
	if flavour == generator.AsExtension {
		return script(ctx, tx, installScript(e, flavour))
	}
	for _, step := range e.Steps(flavour, true) {
		if err := script(ctx, tx, step.SQL); err != nil {
			return fmt.Errorf("creating %s: %w", step.What, err)
		}
	}
	return nil
}

// installed reads what is in the extension's schema.
func installed(ctx context.Context, tx pgx.Tx, schema string) (Installed, error) {
	var there bool
	table := sqltext.Qualified(schema, "pgt_extension")
	if err := tx.QueryRow(ctx, "select to_regclass($1) is not null", table).Scan(&there); err != nil || !there {
		return Installed{}, err
	}
	var found Installed
	err := tx.QueryRow(ctx, "select name, version, digest, flavour from "+table).Scan(&found.Name, &found.Version, &found.Digest, &found.Flavour)
	if errors.Is(err, pgx.ErrNoRows) {
		return Installed{}, Refusal{table + " is empty", "something removed its row; restore it or drop the schema"}
	}
	return found, err
}

func occupied(found Installed, e *generator.Extension) error {
	if found.Name != e.Name {
		return Refusal{
			fmt.Sprintf("schema %s already holds extension %s %s", e.Schema, found.Name, found.Version),
			"give the new extension a schema of its own",
		}
	}
	return Refusal{
		fmt.Sprintf("extension %s %s is installed and differs from the spec's %s", found.Name, found.Version, e.Version),
		"this version of Sluice installs and removes, it does not upgrade yet",
	}
}

func inTransaction(ctx context.Context, conn *pgx.Conn, schema string, body func(pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, lockFor(schema)); err != nil {
			return err
		}
		return body(tx)
	})
}

// script runs several statements; an error tells the place in the script.
func script(ctx context.Context, tx pgx.Tx, sql string) error {
	_, err := tx.Conn().PgConn().Exec(ctx, sql).ReadAll()
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Position > 0 {
		return fmt.Errorf("%w\n%s", err, excerpt(sql, int(pg.Position)))
	}
	return err
}

// Package live talks to running servers: it installs, uninstalls and drives what the generator made.
package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/upgrade"
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

// Options say how an extension is applied.
type Options struct {
	Flavour  generator.Flavour  // "": plain, or what is installed
	Released []upgrade.Manifest // versions that can be upgraded
	Loss     bool               // data may be lost
	Filling  *Filling           // is told how filling goes; may be nil
}

// Applied is what Apply did.
type Applied struct {
	From    string // the version that was upgraded; empty if none was
	Changed bool
	Losses  []string
}

// Apply installs or upgrades an extension in one transaction, and fills its stream tables afterwards. It changes nothing if that very version is installed already.
func Apply(ctx context.Context, conn *pgx.Conn, e *generator.Extension, options Options) (Applied, error) {
	var did Applied
	err := inTransaction(ctx, conn, e.Schema, func(tx pgx.Tx) error {
		found, err := installed(ctx, tx, e.Schema)
		if err != nil {
			return err
		}
		switch {
		case found.Digest == e.Digest() && found.Name == e.Name && !renumbered(found, e, options):
			return nil
		case found.Name == "":
			did.Changed = true
			return install(ctx, tx, e, options)
		case found.Name != e.Name:
			return occupied(found, e)
		}
		did, err = upgradeFrom(ctx, tx, found, e, options)
		return err
	})
	if err == nil && e.Fill() != "" { // also where an earlier run installed and did not come to this
		stop := options.Filling.Watch(ctx, conn.PgConn().PID())
		_, err = conn.Exec(ctx, e.Fill(), pgx.QueryExecModeSimpleProtocol)
		stop()
	}
	did.Changed = did.Changed && err == nil
	return did, err
}

// renumbered reports whether a new version has the objects of the one that was released before it: its number has to be told.
func renumbered(found Installed, e *generator.Extension, options Options) bool {
	_, released := like(found, options.Released)
	return released && found.Version != e.Version
}

// ApplyScript is what Apply would run to install, as a script for psql.
func ApplyScript(e *generator.Extension, flavour generator.Flavour, released []upgrade.Manifest) (string, error) {
	handed := ""
	if flavour == generator.AsTLE {
		var err error
		if handed, err = e.TLE(released); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("\\set ON_ERROR_STOP on\nbegin isolation level read committed;\n%s;\n\n%s%s\ncommit;\n%s",
		lockFor(e.Schema), handed, installScript(e, flavour), e.Fill()), nil
}

// lockFor serialises installers of one schema; the lock ends with the transaction, so a pooler does not matter.
func lockFor(schema string) string {
	return fmt.Sprintf("select pg_advisory_xact_lock(hashtext('sluice apply'), hashtext(%s))", sqltext.Literal(schema))
}

func installScript(e *generator.Extension, flavour generator.Flavour) string {
	if flavour != generator.Plain {
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
func install(ctx context.Context, tx pgx.Tx, e *generator.Extension, options Options) error {
	flavour := cmp.Or(options.Flavour, generator.Plain)
	if flavour == generator.Plain {
		for _, step := range e.Steps(flavour, true) {
			if err := script(ctx, tx, step.SQL); err != nil {
				return fmt.Errorf("creating %s: %w", step.What, err)
			}
		}
		return nil
	}
	if flavour == generator.AsTLE {
		if err := handToTLE(ctx, tx, e, options.Released); err != nil {
			return err
		}
	} else if err := hasFiles(ctx, tx, e); err != nil {
		return err
	}
	if err := script(ctx, tx, installScript(e, flavour)); err != nil {
		return err
	}
	return asGenerated(ctx, tx, e, flavour)
}

// hasFiles refuses an extension whose files the server does not find; each version of PostgreSQL has other words for it.
func hasFiles(ctx context.Context, tx pgx.Tx, e *generator.Extension) error {
	var there bool
	err := tx.QueryRow(ctx, "select exists (select from pg_available_extension_versions v where v.name = $1 and v.version = $2)", e.Name, e.Version).Scan(&there)
	if err != nil || there {
		return err
	}
	return Refusal{
		fmt.Sprintf("the server has no files of extension %s %s", e.Name, e.Version),
		"put those of the artifact directory there: make -C " + e.Name + "/extension install; where nobody can, take --flavour plain or tle",
	}
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
		fmt.Sprintf("extension %s %s is installed, and no released version is like it", found.Name, found.Version),
		"upgrades start from versions that \"sluice release\" has kept; give the artifact directory that has it",
	}
}

func inTransaction(ctx context.Context, conn *pgx.Conn, schema string, body func(pgx.Tx) error) error {
	// What a snapshot does not show that was taken before triggers were made would be in neither a log nor a stream table.
	return pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
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

// Package live talks to running servers: it installs, uninstalls and drives what the generator made.
package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/internal/drift"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/artifact"
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

// Options say how an extension is applied.
type Options struct {
	Flavour  generator.Flavour  // "": plain, or what is installed
	Released []upgrade.Manifest // versions that can be upgraded
	Loss     bool               // data may be lost
	Progress *Progress          // gets reports; may be nil

	Out         string        // the artifact directory, for hints
	LockTimeout time.Duration // how long one lock is waited for, while others queue behind; 0: as the session has it
	Retry       time.Duration // how long all of it is tried again when locks are not to be had; 0: not at all
}

// Applied is what Apply did.
type Applied struct {
	From           string // the version that was upgraded; empty if none was
	Unreleased     bool   // that version was never released
	Changed        bool
	Losses         []string
	Repaired, Left []drift.Difference // from what was installed: what was put right, and what was left as it is
	Unfilled       []Unfilled         // the rest is in place
}

// Apply installs, repairs or upgrades an extension in one transaction, and fills its stream tables afterwards. It changes nothing if that very
// version is installed already and nobody changed it by hand, and goes on with the filling if an earlier run did not come to its end.
func Apply(ctx context.Context, conn *pgx.Conn, e *generator.Extension, options Options) (Applied, error) {
	var did Applied
	if err := follows(e, options.Released); err != nil {
		return did, err
	}
	err := options.retry(ctx, unchanged, func(left time.Duration) (err error) {
		did, err = applyOnce(ctx, conn, e, options, left)
		return err
	})
	if err == nil && e.Fill() != "" {
		unfilled := fmt.Sprintf("extension %s %s is installed, but not all of its stream tables are filled", e.Name, e.Version)
		err = options.retry(ctx, unfilled, func(time.Duration) error {
			return cutOff(conn, options.Progress.current(), fill(ctx, conn, e, options), unfilled)
		})
		if err == nil {
			did.Unfilled, err = readUnfilled(ctx, conn, e.Schema)
		}
	}
	did.Changed = did.Changed && err == nil
	return did, err
}

// byApply is what the history of versions says of a transaction.
const byApply = "set local sluice.way = 'apply'"

// unchanged is the outcome of a transaction that did not come to its end.
const unchanged = "nothing was changed"

// applyOnce is one attempt at the transaction. Other installers lock no tables while they wait, so they are waited for as long as there is time.
func applyOnce(ctx context.Context, conn *pgx.Conn, e *generator.Extension, options Options, left time.Duration) (did Applied, err error) {
	finished := false
	err = readCommitted(ctx, conn, func(tx pgx.Tx) error {
		pid, err := watchable(ctx, tx)
		if err == nil {
			defer options.Progress.watch(ctx, pid)()
			options.Progress.begin("waiting for other installers", "")
			err = alone(ctx, tx, e.Schema, max(left, options.LockTimeout))
		}
		if err == nil {
			err = waitFor(ctx, tx, options.LockTimeout)
		}
		if err == nil {
			_, err = tx.Exec(ctx, byApply)
		}
		if err == nil {
			options.Progress.begin("comparing with what is installed", "")
			did, err = bring(ctx, tx, e, options)
			err = atItsQuery(e.Queries, err)
			if err == nil {
				err = keep(ctx, tx, e.Manifest())
			}
		}
		finished = err == nil
		return cutOff(conn, options.Progress.current(), err, unchanged)
	})
	if finished {
		err = cutOff(conn, "commit", err, "it may have been done or not")
	}
	return did, err
}

// watchable has the server end this session soon after its client dies, and its locks with it. It returns the server's process, which a
// pooler's connection does not show.
func watchable(ctx context.Context, tx pgx.Tx) (pid int32, err error) {
	const watch = "do $do$ begin perform set_config('client_connection_check_interval', '2s', true); exception when others then null; end; $do$"
	if _, err := tx.Exec(ctx, watch); err != nil { // not all platforms have it
		return 0, err
	}
	err = tx.QueryRow(ctx, "select pg_backend_pid()").Scan(&pid)
	return pid, err
}

// waitFor has the transaction wait no longer for a lock; 0: as before.
func waitFor(ctx context.Context, tx pgx.Tx, lockTimeout time.Duration) error {
	if lockTimeout <= 0 {
		return nil
	}
	_, err := tx.Exec(ctx, fmt.Sprintf("set local lock_timeout = %d", max(lockTimeout.Milliseconds(), 1)))
	return err
}

// bring finds what is installed and makes it what the spec says.
func bring(ctx context.Context, tx pgx.Tx, e *generator.Extension, options Options) (Applied, error) {
	found, err := installed(ctx, tx, e.Schema)
	if err != nil {
		return Applied{}, err
	}
	known, err := upgradable(ctx, tx, found, e.Schema, options.Released)
	switch {
	case err != nil:
		return Applied{}, err
	case isLike(found, e, known):
		if _, err := keepsFlavour(ctx, tx, found, options.Flavour); err != nil {
			return Applied{}, err
		}
		return repaired(ctx, tx, found, e.Manifest())
	}
	options.Progress.begin("asking about queries", "")
	if err := askAbout(ctx, tx, e.Queries); err != nil {
		return Applied{}, err
	}
	if found.Name == "" {
		if err := unclaimed(ctx, tx, e, artifact.TakenByInstall(e.Manifest())); err != nil {
			return Applied{}, err
		}
		return Applied{Changed: true}, install(ctx, tx, e, options)
	}
	return upgradeFrom(ctx, tx, found, e, known, options)
}

// fill fills new stream tables, each in a transaction of its own.
func fill(ctx context.Context, conn *pgx.Conn, e *generator.Extension, options Options) error {
	defer options.Progress.watch(ctx, int32(conn.PgConn().PID()))()
	_, err := conn.Exec(ctx, e.Fill(), pgx.QueryExecModeSimpleProtocol)
	return err
}

// repaired puts right what somebody changed by hand in what is installed.
func repaired(ctx context.Context, tx pgx.Tx, found Installed, m upgrade.Manifest) (did Applied, err error) {
	did.Repaired, did.Left, err = drift.Repair(ctx, tx, m, found.Flavour == generator.AsExtension)
	did.Changed = len(did.Repaired) > 0
	return did, err
}

// isLike reports whether what the spec says is installed.
func isLike(found Installed, e *generator.Extension, known []upgrade.Manifest) bool {
	return found.Digest == e.Digest() && found.Name == e.Name && !renumbered(found, e, known)
}

// renumbered reports whether a new version has the objects of the one before it: its number has to be noted.
func renumbered(found Installed, e *generator.Extension, known []upgrade.Manifest) bool {
	_, is := like(found, known)
	return is && found.Version != e.Version
}

// lockFor serialises installers of one schema; the lock ends with the transaction, so a pooler does not matter.
func lockFor(schema string) string {
	return fmt.Sprintf("select pg_advisory_xact_lock(hashtext('sluice apply'), hashtext(%s))", sqltext.Literal(schema))
}

// install creates everything.
func install(ctx context.Context, tx pgx.Tx, e *generator.Extension, options Options) error {
	flavour := cmp.Or(options.Flavour, generator.Plain)
	if flavour == generator.Plain {
		if err := batches(ctx, tx, e.Steps(flavour, true), options.Progress); err != nil {
			return fmt.Errorf("creating %w", err)
		}
		return nil
	}
	if flavour == generator.AsTLE {
		if err := handToTLE(ctx, tx, e, options.Released); err != nil {
			return err
		}
	} else if err := hasFiles(ctx, tx, e, options.Out); err != nil {
		return err
	}
	if err := script(ctx, tx, installScript(e, flavour)); err != nil {
		return err
	}
	return asGenerated(ctx, tx, e, flavour, options.Out)
}

// hasFiles refuses an extension whose files the server does not find; each version of PostgreSQL has other words for it.
func hasFiles(ctx context.Context, tx pgx.Tx, e *generator.Extension, out string) error {
	var there bool
	err := tx.QueryRow(ctx, "select exists (select from pg_available_extension_versions v where v.name = $1 and v.version = $2)", e.Name, e.Version).Scan(&there)
	if err != nil || there {
		return err
	}
	return Refusal{
		fmt.Sprintf("the server has no files of extension %s %s", e.Name, e.Version),
		"put those of the artifact directory there: make -C " + filepath.Join(out, e.Name, "extension") + " install; where nobody can, take --flavour plain or tle",
	}
}

// installed reads what is in the extension's schema.
func installed(ctx context.Context, tx pgx.Tx, schema string) (Installed, error) {
	var there bool
	table := sqltext.Qualified(schema, "pgt_extension")
	// A table of others that has the name has other columns.
	err := tx.QueryRow(ctx, "select count(*) = 4 from pg_attribute a where a.attrelid = to_regclass($1) and a.attname in ('name', 'version', 'digest', 'flavour')", table).Scan(&there)
	if err != nil || !there {
		return Installed{}, err
	}
	var found Installed
	err = tx.QueryRow(ctx, "select name, version, digest, flavour from "+table).Scan(&found.Name, &found.Version, &found.Digest, &found.Flavour)
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
		"upgrades start from versions that \"sluice release\" has kept, or that \"sluice apply\" installed as plain objects; give the artifact directory that has it",
	}
}

// inTransaction runs body when no other installer is at work.
func inTransaction(ctx context.Context, conn *pgx.Conn, schema string, body func(pgx.Tx) error) error {
	return readCommitted(ctx, conn, func(tx pgx.Tx) error {
		if err := alone(ctx, tx, schema, 0); err != nil {
			return err
		}
		return body(tx)
	})
}

// readCommitted runs body in a transaction: what a snapshot does not show that was taken before triggers were made would be in neither a log nor
// a stream table.
func readCommitted(ctx context.Context, conn *pgx.Conn, body func(pgx.Tx) error) error {
	return within(ctx, conn, beginReadCommitted, body)
}

// alone waits until no other installer is at work, but no longer than a time; 0: as the session has it.
func alone(ctx context.Context, tx pgx.Tx, schema string, timeout time.Duration) error {
	err := waitFor(ctx, tx, timeout)
	if err == nil {
		_, err = tx.Exec(ctx, lockFor(schema))
	}
	return err
}

// script runs several statements; an error has the place in the script.
func script(ctx context.Context, tx pgx.Tx, sql string) error {
	_, err := tx.Conn().PgConn().Exec(ctx, sql).ReadAll()
	return placed(err, sql, 0)
}

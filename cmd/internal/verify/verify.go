// Package verify tries out an extension in scratch databases of a live server: it installs it, upgrades it from every released version,
// changes what its stream tables read at random and compares each with its query, and uses its inboxes and outboxes.
package verify

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/internal/drift"
	"github.com/pgsluice/sluice/cmd/internal/live"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext/ddl"
)

// SnapshotSQL is a query for everything that users and dumps can see of a database's schemas, one line each.
//
//go:embed sql/snapshot.sql
var SnapshotSQL string

// Options say what is verified, and how.
type Options struct {
	DSN       string
	Extension *generator.Extension
	Released  []upgrade.Manifest
	DDL       []string // of the sources, one script each
	Seed      uint64
	Rounds    int                              // of random changes
	Log       func(format string, args ...any) // progress

	// Meddle is called after the changes of each round, before stream tables are compared; tests break things there.
	Meddle func(ctx context.Context, conn *pgx.Conn) error
}

// The outcomes of a check.
const (
	OK         = "ok"
	Failed     = "failed"
	NotChecked = "not checked"
)

// Check is one thing that must hold.
type Check struct {
	Name    string `json:"check"`
	Outcome string `json:"outcome"`
	Detail  string `json:"detail,omitempty"`
}

// Result is what was found out.
type Result struct {
	Extension string  `json:"extension"`
	Version   string  `json:"version"`
	Server    string  `json:"server"`
	Seed      uint64  `json:"seed"`
	Checks    []Check `json:"checks"`
}

// Failed reports whether any check failed.
func (r *Result) Failed() bool {
	for _, c := range r.Checks {
		if c.Outcome == Failed {
			return true
		}
	}
	return false
}

// add notes the outcome of a check: an error is a failure, unless it says that nothing was checked.
func (r *Result) add(name, detail string, err error) {
	var not notChecked
	switch {
	case errors.As(err, &not):
		r.Checks = append(r.Checks, Check{name, NotChecked, string(not)})
	case err != nil:
		r.Checks = append(r.Checks, Check{name, Failed, err.Error()})
	default:
		r.Checks = append(r.Checks, Check{name, OK, detail})
	}
}

// notChecked is why something could not be checked.
type notChecked string

func (n notChecked) Error() string { return string(n) }

// Run verifies an extension. The scratch databases are gone when it returns, however it ends.
func Run(ctx context.Context, o Options) (*Result, error) {
	server, err := reach(ctx, o.DSN)
	if err != nil {
		return nil, err
	}
	defer server.close()
	forget, err := server.newRoles(ctx, o.Extension)
	if err != nil {
		return nil, err
	}
	defer forget()
	v := &verifier{Options: o, server: server, result: &Result{Extension: o.Extension.Name, Version: o.Extension.Version, Server: server.version, Seed: o.Seed}}
	if err := v.fresh(ctx); err != nil {
		return nil, err
	}
	for _, m := range o.Released {
		if m.Version != o.Extension.Version {
			if err := v.upgraded(ctx, m); err != nil {
				return nil, err
			}
		}
	}
	v.result.add("extension flavour", "", notChecked("its files must be on the server, which no connection can put there"))
	return v.result, nil
}

type verifier struct {
	Options
	server  *server
	result  *Result
	catalog []string // right after a fresh install
}

// random is a source of numbers that one part has for itself, so that others do not disturb it.
func (v *verifier) random(part uint64) *rand.Rand { return rand.New(rand.NewPCG(v.Seed, part)) }

// fresh installs the extension and tries out all that it has.
func (v *verifier) fresh(ctx context.Context) error {
	return v.server.scratch(ctx, func(conn *pgx.Conn) error {
		detail, err := v.sources(ctx, conn)
		v.result.add("sources", detail, err)
		v.Log("installing %s %s", v.Extension.Name, v.Extension.Version)
		tables, err := v.receivable(ctx, conn)
		if err != nil {
			return err
		}
		before, err := snapshot(ctx, conn)
		if err != nil {
			return err
		}
		if _, err := live.Apply(ctx, conn, v.Extension, live.Options{}); err != nil {
			v.result.add("install", "", err)
			return ctx.Err()
		}
		v.result.add("install", diag.Count(len(v.Extension.Objects), "object"), nil)
		if v.catalog, err = snapshot(ctx, conn); err != nil {
			return err
		}
		v.plpgsql(ctx, conn)
		if err := v.streams(ctx, conn, tables); err != nil {
			return err
		}
		if err := v.messages(ctx, conn); err != nil {
			return err
		}
		if v.Meddle == nil {
			v.undisturbed(ctx, conn)
		}
		v.result.add("uninstall", "all is as before", v.uninstalled(ctx, conn, before))
		return ctx.Err()
	})
}

// uninstalled removes the extension, and looks whether anything else is left, or gone, than there was before.
func (v *verifier) uninstalled(ctx context.Context, conn *pgx.Conn, before []string) error {
	if _, _, err := live.Uninstall(ctx, conn, v.Extension, true); err != nil {
		return err
	}
	after, err := snapshot(ctx, conn)
	if diff := difference(before, after); err == nil && diff != "" {
		err = errors.New(diff)
	}
	return err
}

// beyond are statements that reach beyond the scratch database: to roles, servers, and what others may do.
var beyond = regexp.MustCompile(`(?is)^((create|alter|drop)\s+(role|user|group|database|tablespace|subscription|system)|grant|revoke|alter\s.*\sowner\s+to)\b`)

// setting is a statement that older servers refuse, and that makes nothing.
var setting = regexp.MustCompile(`(?i)^set\b`)

// sources makes what stream tables read.
func (v *verifier) sources(ctx context.Context, conn *pgx.Conn) (string, error) {
	made, skipped, why := 0, 0, error(nil)
	for _, script := range v.DDL {
		for _, statement := range ddl.Statements(script) {
			if beyond.MatchString(statement) {
				continue
			}
			if _, err := conn.Exec(ctx, statement, pgx.QueryExecModeSimpleProtocol); err != nil {
				if !setting.MatchString(statement) {
					skipped, why = skipped+1, err
				}
				continue
			}
			made++
		}
	}
	// A dump sets what later statements would stumble over, and the DDL may make functions that fit them better than PostgreSQL's.
	if _, err := conn.Exec(ctx, "reset all; set search_path = pg_catalog, pg_temp"); err != nil {
		return "", err
	}
	if skipped > 0 {
		return "", notChecked(fmt.Sprintf("%d of %s of the DDL failed, the last with: %v", skipped, diag.Count(made+skipped, "statement"), why))
	}
	return diag.Count(made, "statement"), nil
}

func snapshot(ctx context.Context, conn *pgx.Conn) ([]string, error) {
	rows, err := conn.Query(ctx, SnapshotSQL)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// plpgsql runs plpgsql_check, where the server has it.
func (v *verifier) plpgsql(ctx context.Context, conn *pgx.Conn) {
	const name = "plpgsql_check"
	var there bool
	err := conn.QueryRow(ctx, "select exists (select from pg_available_extensions where name = 'plpgsql_check')").Scan(&there)
	if err != nil || !there {
		v.result.add(name, "", cmp.Or(err, error(notChecked("the server does not have it"))))
		return
	}
	v.Log("checking functions")
	tx, err := conn.Begin(ctx)
	if err != nil {
		v.result.add(name, "", err)
		return
	}
	defer tx.Rollback(context.WithoutCancel(ctx))
	if _, err := tx.Exec(ctx, "create schema plpgsql_check; create extension plpgsql_check schema plpgsql_check"); err != nil {
		v.result.add(name, "", notChecked(fmt.Sprintf("it cannot be installed: %v", err)))
		return
	}
	if err := v.enableAll(ctx, tx); err != nil {
		v.result.add(name, "", err)
		return
	}
	findings, err := Findings(ctx, tx, v.Extension.Schema, generator.InternalSchema(v.Extension.Schema))
	findings = slices.DeleteFunc(findings, func(f Finding) bool { return f.Level != "error" && f.Level != "warning" }) // others are matters of taste
	for n, f := range findings {
		f.Query = ""
		err = errors.Join(err, errors.New(f.String()))
		if n == 4 {
			err = errors.Join(err, fmt.Errorf("and %d more", len(findings)-n-1))
			break
		}
	}
	v.result.add(name, "no findings", err)
}

// enableAll enables the outboxes of all stream tables: functions name their tables. It creates inboxes where functions can, which have the triggers that others may lack.
func (v *verifier) enableAll(ctx context.Context, tx pgx.Tx) error {
	if v.Extension.Manifest().CreatesInboxes() {
		if _, err := tx.Exec(ctx, createInboxes(v.Extension.Schema)); err != nil {
			return err
		}
	}
	there, err := v.has(ctx, tx.Conn(), v.internal()+".pgt_outboxes")
	if err != nil || !there {
		return err
	}
	_, err = tx.Exec(ctx, fmt.Sprintf(`do $do$
declare
    v_name text;
begin
    for v_name in
        select o.stream_table
        from %[2]s.pgt_outboxes o
        where o.kind = 'stream_table' and not o.immediate
          and not exists (select from %[2]s.pgt_outbox_state s where s.outbox_name = o.outbox_name)
    loop
        perform %[1]s.enable_outbox(v_name);
    end loop;
end;
$do$`, v.schema(), v.internal()))
	return err
}

// undisturbed looks whether what is installed is as it was, after all that it did.
func (v *verifier) undisturbed(ctx context.Context, conn *pgx.Conn) {
	tx, err := conn.Begin(ctx)
	if err != nil {
		v.result.add("catalog", "", err)
		return
	}
	defer tx.Rollback(context.WithoutCancel(ctx))
	found, err := drift.Compare(ctx, tx, v.Extension.Manifest(), false)
	for _, d := range found {
		err = errors.Join(err, fmt.Errorf("%s %s", d.What, d))
	}
	v.result.add("catalog", "as installed, after all this", err)
}

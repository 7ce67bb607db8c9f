package live

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// handToTLE gives pg_tle the scripts of this version, and of the upgrades to it, as far as it lacks them.
func handToTLE(ctx context.Context, tx pgx.Tx, e *generator.Extension, released []upgrade.Manifest) error {
	there, err := hasTLE(ctx, tx)
	if err != nil {
		return err
	}
	if !there {
		return Refusal{"this database has no extension pg_tle", "run \"create extension pg_tle\" as superuser, on a server whose shared_preload_libraries name it"}
	}
	scripts, err := e.TLE(released)
	if err != nil {
		return Refusal{err.Error(), "give pg_tle a chain of releases that can be upgraded"}
	}
	return script(ctx, tx, scripts)
}

func hasTLE(ctx context.Context, tx pgx.Tx) (there bool, err error) {
	err = tx.QueryRow(ctx, "select to_regprocedure('pgtle.install_extension(text, text, text, text, text[])') is not null"+
		" or to_regprocedure('pgtle.install_extension(text, text, text, text, text[], text)') is not null").Scan(&there)
	return there, err
}

// fromTLE reports whether the upgrade of an installed extension goes through pg_tle: where the caller says so, or pg_tle knows it.
func fromTLE(ctx context.Context, tx pgx.Tx, found Installed, asked generator.Flavour) (bool, error) {
	if found.Flavour != generator.AsExtension || asked != "" {
		return found.Flavour == generator.AsExtension && asked == generator.AsTLE, nil
	}
	there, err := hasTLE(ctx, tx)
	if err != nil || !there {
		return false, err
	}
	err = tx.QueryRow(ctx, "select exists (select from pgtle.available_extensions() a where a.name = $1)", found.Name).Scan(&there)
	return there, err
}

// asGenerated refuses an extension whose scripts, which others have put where the server finds them, are not those of this spec.
func asGenerated(ctx context.Context, tx pgx.Tx, e *generator.Extension, flavour generator.Flavour, out string) error {
	found, err := installed(ctx, tx, e.Schema)
	if err != nil || found.Version == e.Version && found.Digest == e.Digest() {
		return err
	}
	hint := "put the files of the artifact directory on the server again: make -C " + filepath.Join(out, e.Name, "extension") + " install"
	if flavour == generator.AsTLE {
		hint = fmt.Sprintf("pg_tle keeps what it has: take it away first, select pgtle.uninstall_extension(%s)", sqltext.Literal(e.Name))
	}
	return Refusal{fmt.Sprintf("the server's scripts of extension %s %s are not those that the spec makes", e.Name, e.Version), hint}
}

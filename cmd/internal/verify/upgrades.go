package verify

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/internal/live"
	"github.com/pgsluice/sluice/generator/artifact"
	"github.com/pgsluice/sluice/generator/upgrade"
)

// upgraded installs a released version, fills its sources, upgrades it, and compares the catalog with that of a fresh install and each stream
// table with its query.
func (v *verifier) upgraded(ctx context.Context, from upgrade.Manifest) error {
	name := "upgrade from " + from.Version
	if v.catalog == nil {
		v.result.add(name, "", notChecked("the current version could not be installed"))
		return nil
	}
	v.Log("upgrading from %s", from.Version)
	return v.server.scratch(ctx, func(conn *pgx.Conn) error {
		_, _ = v.sources(ctx, conn) // reported before
		tables, err := readTables(ctx, conn)
		if err != nil {
			return err
		}
		v.result.add(name, "same catalog as a fresh install", v.upgrade(ctx, conn, from, tables))
		return ctx.Err()
	})
}

func (v *verifier) upgrade(ctx context.Context, conn *pgx.Conn, from upgrade.Manifest, tables []*table) error {
	if _, err := conn.Exec(ctx, artifact.InstallVersion(from), pgx.QueryExecModeSimpleProtocol); err != nil {
		return fmt.Errorf("installing %s: %w", from.Version, err)
	}
	changes := newChanges(conn, tables, v.random(2))
	if err := changes.fill(ctx); err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, fmt.Sprintf("call %s.tick()", v.schema())); err != nil {
		return fmt.Errorf("version %s: %w", from.Version, err)
	}
	if _, err := live.Apply(ctx, conn, v.Extension, live.Options{Released: v.Released, Loss: true}); err != nil {
		return err
	}
	got, err := snapshot(ctx, conn)
	if err != nil {
		return err
	}
	if diff := difference(v.catalog, got); diff != "" {
		return fmt.Errorf("the catalog differs from a fresh install:\n%s", diff)
	}
	streams, err := v.readStreams(ctx, conn)
	if err != nil {
		return err
	}
	_, err = v.compare(ctx, conn, streams)
	return err
}

// mostLines of a difference are printed.
const mostLines = 10

// difference lists what only one of two catalogs has.
func difference(want, got []string) string {
	in := map[string]int{}
	for _, line := range want {
		in[line]++
	}
	for _, line := range got {
		in[line]--
	}
	text, count := "", 0
	list := func(lines []string, sign string, by int) {
		for _, line := range lines {
			if in[line]*by > 0 {
				in[line] -= by
				if count++; count <= mostLines {
					text += sign + line + "\n"
				}
			}
		}
	}
	list(want, "- ", 1)
	list(got, "+ ", -1)
	if count > mostLines {
		text += fmt.Sprintf("and %d more\n", count-mostLines)
	}
	return text
}

package live

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// keep has the database keep the manifest of what Apply left installed. By it a version that was never released can be upgraded, and any version
// be uninstalled without its spec.
func keep(ctx context.Context, tx pgx.Tx, m upgrade.Manifest) error {
	sql := "update " + sqltext.Qualified(m.Schema, "pgt_extension") + " set manifest = $1 where digest = $2 and manifest is distinct from $1"
	_, err := tx.Exec(ctx, sql, m.Encode(), m.Digest())
	return err
}

// kept returns the manifest that the database keeps, if it is that of what is installed: scripts install without one.
func kept(ctx context.Context, tx pgx.Tx, found Installed, schema string) ([]upgrade.Manifest, error) {
	var text string
	err := tx.QueryRow(ctx, "select coalesce(manifest, '') from "+sqltext.Qualified(schema, "pgt_extension")).Scan(&text)
	if err != nil || text == "" {
		return nil, err
	}
	m, err := upgrade.Decode([]byte(text), nil)
	if _, is := like(found, []upgrade.Manifest{m}); err != nil || !is {
		return nil, nil // a script upgraded since, or a later Sluice installed it
	}
	return []upgrade.Manifest{m}, nil
}

// upgradable adds to the released versions what is installed, where the database keeps its manifest. Extensions are upgraded by scripts, which
// only released versions have.
func upgradable(ctx context.Context, tx pgx.Tx, found Installed, schema string, released []upgrade.Manifest) ([]upgrade.Manifest, error) {
	if _, is := like(found, released); is || found.Name == "" || found.Flavour == generator.AsExtension {
		return released, nil
	}
	own, err := kept(ctx, tx, found, schema)
	return append(own, released...), err
}

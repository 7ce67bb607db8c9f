package live

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/internal/drift"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/artifact"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/diag"
)

// Loss is the data that removing an extension would delete.
type Loss struct {
	Table string // as SQL
	Rows  int64
}

// Uninstall is Remove for those who have the spec, and need not know what others have.
func Uninstall(ctx context.Context, conn *pgx.Conn, e *generator.Extension, allowLoss bool) ([]Loss, bool, error) {
	did, err := Remove(ctx, conn, e.Schema, []upgrade.Manifest{e.Manifest()}, allowLoss)
	return did.Losses, did.Done, err
}

// Removed is what Remove did.
type Removed struct {
	Extension string
	Done      bool     // false if nothing was installed
	Losses    []Loss   // data that went
	Left      []string // what others made under names of the extension, by id
}

// Remove takes away everything that Apply made in a schema, in one transaction, and nothing that others made. What that is, the database keeps, or
// one of the known versions says, where scripts installed it. Where tables hold data it refuses, unless loss is allowed, and says which.
func Remove(ctx context.Context, conn *pgx.Conn, schema string, known []upgrade.Manifest, allowLoss bool) (did Removed, err error) {
	err = inTransaction(ctx, conn, schema, func(tx pgx.Tx) error {
		found, err := installed(ctx, tx, schema)
		if err != nil || found.Name == "" {
			return err
		}
		own, err := kept(ctx, tx, found, schema)
		if err != nil {
			return err
		}
		m, is := like(found, append(own, known...))
		if !is {
			return Refusal{
				fmt.Sprintf("extension %s %s was installed by scripts, and this is not its spec", found.Name, found.Version),
				"give the spec or the artifact directory of that version, or run the script that removes it",
			}
		}
		did.Extension = m.Extension
		gone, err := did.whatIsThere(ctx, tx, m, found.Flavour)
		if err != nil {
			return err
		}
		if did.Losses, err = lockAndCount(ctx, tx, m, gone); err != nil {
			return err
		}
		if len(did.Losses) > 0 && !allowLoss {
			return Refusal{"removing extension " + m.Extension + " deletes " + describe(did.Losses), "to delete them, give --allow-data-loss"}
		}
		did.Done = true
		if found.Flavour == generator.AsExtension {
			return script(ctx, tx, artifact.UninstallExtension(m))
		}
		return script(ctx, tx, artifact.UninstallBut(m, func(id string) bool { return gone[id] }))
	})
	did.Done = did.Done && err == nil
	return did, err
}

// whatIsThere finds the objects that are not there, or that others made in their place, and puts back marks that somebody removed.
func (r *Removed) whatIsThere(ctx context.Context, tx pgx.Tx, m upgrade.Manifest, flavour generator.Flavour) (map[string]bool, error) {
	differences, err := drift.Mark(ctx, tx, m, flavour == generator.AsExtension)
	gone := map[string]bool{}
	for _, d := range differences {
		if d.Aspect == "" && (d.What == drift.Missing || d.What == drift.Taken) {
			gone[d.Object] = true
		}
		if d.What == drift.Taken {
			r.Left = append(r.Left, d.Object)
		}
	}
	return gone, err
}

// lockAndCount keeps writers out, so that what is counted is what goes.
func lockAndCount(ctx context.Context, tx pgx.Tx, m upgrade.Manifest, gone map[string]bool) ([]Loss, error) {
	var losses []Loss
	tables := m.Holding()
	if created := m.CreatedTables(); created != "" {
		rows, err := tx.Query(ctx, created)
		if err != nil {
			return nil, err
		}
		names, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return nil, err
		}
		tables = append(tables, names...)
	}
	for _, table := range tables {
		if gone["table "+table] {
			continue
		}
		loss := Loss{Table: table}
		there := false
		if err := tx.QueryRow(ctx, "select to_regclass($1) is not null", table).Scan(&there); err != nil {
			return nil, err
		}
		if !there { // nobody wanted it yet
			continue
		}
		if _, err := tx.Exec(ctx, "lock table "+table+" in access exclusive mode"); err != nil {
			return nil, err
		}
		if err := tx.QueryRow(ctx, "select count(*) from "+table).Scan(&loss.Rows); err != nil {
			return nil, err
		}
		if loss.Rows > 0 {
			losses = append(losses, loss)
		}
	}
	return losses, nil
}

func describe(losses []Loss) string {
	parts := make([]string, len(losses))
	for i, l := range losses {
		parts[i] = diag.Count(l.Rows, "row") + " of " + l.Table
	}
	return strings.Join(parts, ", ")
}

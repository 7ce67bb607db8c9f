package live

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Loss is the data that removing an extension would delete.
type Loss struct {
	Table string // as SQL
	Rows  int64
}

// Uninstall removes everything that Apply made, in one transaction. Where tables hold data it refuses, unless loss is allowed,
// and says which. It returns what was lost, and false if nothing was installed.
func Uninstall(ctx context.Context, conn *pgx.Conn, e *generator.Extension, allowLoss bool) ([]Loss, bool, error) {
	var losses []Loss
	removed := false
	err := inTransaction(ctx, conn, e.Schema, func(tx pgx.Tx) error {
		found, err := installed(ctx, tx, e.Schema)
		if err != nil || found.Name == "" {
			return err
		}
		if found.Name != e.Name || found.Digest != e.Digest() {
			return otherVersion(found, e)
		}
		if losses, err = lockAndCount(ctx, tx, e); err != nil {
			return err
		}
		if len(losses) > 0 && !allowLoss {
			return Refusal{"removing extension " + e.Name + " deletes " + describe(losses), "to delete them, give --allow-data-loss"}
		}
		removed = true
		return script(ctx, tx, uninstallScript(e, found.Flavour))
	})
	return losses, removed && err == nil, err
}

func uninstallScript(e *generator.Extension, flavour generator.Flavour) string {
	if flavour == generator.AsExtension {
		return fmt.Sprintf("select %s.detach();\ndrop extension %s cascade;\n", sqltext.Ident(e.Schema), sqltext.Ident(e.Name))
	}
	return e.Uninstall()
}

// lockAndCount keeps writers out, so that what is counted is what goes.
func lockAndCount(ctx context.Context, tx pgx.Tx, e *generator.Extension) ([]Loss, error) {
	var losses []Loss
	for _, table := range e.Manifest().Holding() {
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
		parts[i] = fmt.Sprintf("%d rows of %s", l.Rows, l.Table)
	}
	return strings.Join(parts, ", ")
}

func otherVersion(found Installed, e *generator.Extension) error {
	if found.Name != e.Name {
		return occupied(found, e)
	}
	return Refusal{
		fmt.Sprintf("extension %s %s is installed and differs from the spec's %s", found.Name, found.Version, e.Version),
		"give the spec of the version that is installed, or apply this one first",
	}
}

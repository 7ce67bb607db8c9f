package live

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// upgradeFrom brings what is installed to the version of the spec. It refuses to lose data unless that is allowed.
func upgradeFrom(ctx context.Context, tx pgx.Tx, found Installed, e *generator.Extension, options Options) (Applied, error) {
	from, ok := like(found, options.Released)
	if !ok {
		return Applied{}, occupied(found, e)
	}
	tle, err := fromTLE(ctx, tx, found, options.Flavour)
	if err != nil {
		return Applied{}, err
	}
	if options.Flavour != "" && !tle && options.Flavour != found.Flavour {
		return Applied{}, Refusal{
			fmt.Sprintf("extension %s is installed in the %s flavour, not %s", found.Name, found.Flavour, options.Flavour),
			"upgrades keep the flavour; leave out --flavour",
		}
	}
	member := found.Flavour == generator.AsExtension
	plan, err := upgrade.Derive(from, e.Manifest(), member)
	if refused := (upgrade.Refused{}); errors.As(err, &refused) {
		return Applied{}, Refusal{refused.Message, refused.Hint}
	}
	if err != nil {
		return Applied{}, Refusal{err.Error(), "uninstall it and apply anew, which loses its data, or keep to the older definition"}
	}
	losses, err := lostRows(ctx, tx, from, e.Manifest(), plan)
	if err != nil {
		return Applied{}, err
	}
	if len(losses) > 0 && !options.Loss {
		return Applied{}, Refusal{
			fmt.Sprintf("upgrading extension %s from %s to %s deletes %s", e.Name, from.Version, e.Version, strings.Join(losses, ", ")),
			"to delete them, give --allow-data-loss",
		}
	}
	done := Applied{From: from.Version, Changed: true, Losses: losses}
	if !member {
		return done, script(ctx, tx, generator.UpgradeScript(from, e.Manifest(), plan))
	}
	flavour := generator.AsExtension
	if tle {
		flavour = generator.AsTLE
		if err := handToTLE(ctx, tx, e, options.Released); err != nil {
			return Applied{}, err
		}
	}
	err = script(ctx, tx, fmt.Sprintf("alter extension %s update to %s;\nselect %s.attach();\n",
		sqltext.Ident(e.Name), sqltext.Literal(e.Version), sqltext.Ident(e.Schema)))
	if err == nil {
		err = asGenerated(ctx, tx, e, flavour)
	}
	return done, err
}

// like finds the released version that is installed.
func like(found Installed, released []upgrade.Manifest) (upgrade.Manifest, bool) {
	for _, m := range released {
		if m.Version == found.Version && m.Digest() == found.Digest {
			return m, true
		}
	}
	return upgrade.Manifest{}, false
}

// lostRows says what a plan deletes, but for tables that are empty. Those are locked, so that they stay so.
func lostRows(ctx context.Context, tx pgx.Tx, from, to upgrade.Manifest, plan upgrade.Plan) ([]string, error) {
	stays := map[string]bool{}
	for _, o := range to.Objects {
		stays[o.ID()] = true
	}
	empty := map[string]bool{}
	for _, o := range from.Objects {
		if !o.Holds {
			continue
		}
		var filled bool
		if !stays[o.ID()] {
			if _, err := tx.Exec(ctx, "lock table "+o.Signature+" in access exclusive mode"); err != nil {
				return nil, err
			}
		}
		if err := tx.QueryRow(ctx, "select exists (select from "+o.Signature+")").Scan(&filled); err != nil {
			return nil, err
		}
		empty[o.ID()] = !filled
	}
	var losses []string
	for _, step := range plan.Steps {
		if step.Loses != "" && !empty[step.Object] {
			losses = append(losses, step.Loses)
		}
	}
	return losses, nil
}

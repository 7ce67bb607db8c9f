package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/internal/drift"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/artifact"
	"github.com/pgsluice/sluice/generator/upgrade"
)

// upgradeFrom brings what is installed, one of the known versions, to the version of the spec. It refuses to lose data unless that is allowed.
func upgradeFrom(ctx context.Context, tx pgx.Tx, found Installed, e *generator.Extension, known []upgrade.Manifest, options Options) (Applied, error) {
	from, plan, err := planned(found, e, known)
	if err != nil {
		return Applied{}, err
	}
	tle, err := keepsFlavour(ctx, tx, found, options.Flavour)
	if err != nil {
		return Applied{}, err
	}
	names := artifact.TakenByUpgrade(from, e.Manifest(), plan)
	if err := unclaimed(ctx, tx, e, artifact.OnlyNew(names)); err != nil {
		return Applied{}, err
	}
	done, err := repaired(ctx, tx, found, from)
	if err == nil {
		err = unclaimed(ctx, tx, e, names) // what was changed by hand and is ours is repaired by now
	}
	if err == nil {
		err = keepOut(ctx, tx, plan, options)
	}
	if err != nil {
		return Applied{}, err
	}
	losses, err := mayLose(ctx, tx, from, e, plan, options)
	if err != nil {
		return Applied{}, err
	}
	done.Left = slices.DeleteFunc(done.Left, func(d drift.Difference) bool { return d.What == drift.Unknown && plan.Remakes(from, d.Object) })
	_, released := like(found, options.Released)
	done.From, done.Unreleased, done.Changed, done.Losses = from.Version, !released, true, losses
	if found.Flavour != generator.AsExtension {
		return done, batches(ctx, tx, artifact.UpgradeSteps(from, e.Manifest(), plan), options.Progress)
	}
	flavour := generator.AsExtension
	if tle {
		flavour = generator.AsTLE
		if err := handToTLE(ctx, tx, e, options.Released); err != nil {
			return Applied{}, err
		}
	}
	options.Progress.begin("alter extension "+e.Name+" update", "")
	err = script(ctx, tx, alterExtension(e))
	if err == nil {
		err = asGenerated(ctx, tx, e, flavour, options.Out)
	}
	return done, err
}

// follows refuses a version that a released one is in the way of: its number means something else, or comes before another's.
func follows(e *generator.Extension, released []upgrade.Manifest) error {
	if err := e.Follows(released); err != nil {
		return Refusal{err.Error(), "raise extension.version in the spec"}
	}
	return nil
}

// planned is the upgrade of what is installed.
func planned(found Installed, e *generator.Extension, known []upgrade.Manifest) (from upgrade.Manifest, plan upgrade.Plan, err error) {
	from, ok := like(found, known)
	if !ok || found.Name != e.Name {
		return from, plan, occupied(found, e)
	}
	plan, err = artifact.Upgrade(from, e.Manifest(), found.Flavour == generator.AsExtension)
	if refused := (upgrade.Refused{}); errors.As(err, &refused) {
		return from, plan, Refusal{refused.Message, refused.Hint}
	}
	if err != nil {
		err = Refusal{err.Error(), "uninstall it and apply again, which loses its data, or keep to the older definition"}
	}
	return from, plan, err
}

// mayLose says what a plan deletes, and refuses it unless that is allowed.
func mayLose(ctx context.Context, tx pgx.Tx, from upgrade.Manifest, e *generator.Extension, plan upgrade.Plan, options Options) ([]string, error) {
	losses, err := lostRows(ctx, tx, from, e.Manifest(), plan)
	if err == nil && len(losses) > 0 && !options.Loss {
		what := fmt.Sprintf("upgrading extension %s from %s to %s", e.Name, from.Version, e.Version)
		if from.Version == e.Version {
			what = fmt.Sprintf("changing extension %s %s", e.Name, e.Version)
		}
		err = Refusal{
			fmt.Sprintf("%s deletes %s", what, strings.Join(losses, ", ")),
			"to delete them, give --allow-data-loss",
		}
	}
	return losses, err
}

// keepsFlavour refuses a flavour that is not the one installed. It reports whether pg_tle keeps the scripts.
func keepsFlavour(ctx context.Context, tx pgx.Tx, found Installed, asked generator.Flavour) (tle bool, err error) {
	if tle, err = fromTLE(ctx, tx, found, asked); err != nil || tle || asked == "" || asked == found.Flavour {
		return tle, err
	}
	return false, Refusal{
		fmt.Sprintf("extension %s is installed in the %s flavour, not %s", found.Name, found.Flavour, asked),
		"upgrades keep the flavour; leave out --flavour",
	}
}

// keepOut has sessions end what they do with what the plan changes, before anything else is locked.
func keepOut(ctx context.Context, tx pgx.Tx, plan upgrade.Plan, options Options) error {
	if plan.Empty() || plan.Steps[0].Action != "lock" {
		return nil
	}
	options.Progress.begin("locking what is upgraded", "")
	return script(ctx, tx, plan.Steps[0].SQL)
}

// like finds the version that is installed.
func like(found Installed, known []upgrade.Manifest) (upgrade.Manifest, bool) {
	for _, m := range known {
		if m.Version == found.Version && m.Digest() == found.Digest {
			return m, true
		}
	}
	return upgrade.Manifest{}, false
}

// lostRows says what a plan deletes, but for tables that are empty. Those are locked, so that they stay so.
func lostRows(ctx context.Context, tx pgx.Tx, from, to upgrade.Manifest, plan upgrade.Plan) ([]string, error) {
	tables := map[string]string{} // by the id of what is dropped
	for _, o := range from.Objects {
		if o.Holds {
			tables[o.ID()] = o.Signature
		}
	}
	stays := upgrade.HeldBefore(from, to)  // by the id of what is changed, which has its new name
	atRunTime := map[string]upgrade.Made{} // what may have been made by those who want it
	for _, m := range from.Made {
		if m.Table != "" {
			tables[m.ID()], atRunTime[m.ID()] = m.Table, m
		}
	}
	var losses []string
	for _, step := range plan.Steps {
		m, mayBe := atRunTime[step.Object]
		if step.Loses == "" && (!mayBe || step.Action != "drop") {
			continue
		}
		table, isTable := tables[step.Object]
		if step.Action != "drop" {
			table, isTable = stays[step.Object]
		}
		if isTable {
			filled, err := holdsRows(ctx, tx, table, step.Action == "drop")
			if err != nil {
				return nil, err
			}
			if !filled {
				continue
			}
		}
		losses = append(losses, cmp.Or(step.Loses, "all rows of "+m.Table))
	}
	return losses, nil
}

// holdsRows reports whether a table is there and has rows. If it goes, nobody may add some.
func holdsRows(ctx context.Context, tx pgx.Tx, table string, goes bool) (filled bool, err error) {
	if err := tx.QueryRow(ctx, "select to_regclass($1) is not null", table).Scan(&filled); err != nil || !filled {
		return false, err
	}
	if goes {
		if _, err := tx.Exec(ctx, "lock table "+table+" in access exclusive mode"); err != nil {
			return false, err
		}
	}
	err = tx.QueryRow(ctx, "select exists (select from "+table+")").Scan(&filled)
	return filled, err
}

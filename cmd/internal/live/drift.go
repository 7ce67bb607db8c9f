package live

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/internal/drift"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/artifact"
	"github.com/pgsluice/sluice/generator/upgrade"
)

// Report is how a database differs from what a spec makes: by hand, and by version.
type Report struct {
	Extension   string             `json:"extension"`
	Installed   string             `json:"installed"` // version; empty if there is none
	Flavour     generator.Flavour  `json:"flavour,omitempty"`
	Version     string             `json:"version"`     // of the spec
	Differences []drift.Difference `json:"differences"` // from the installed version
	Upgrade     *upgrade.Plan      `json:"upgrade,omitempty"`
	Taken       []Taken            `json:"taken,omitempty"` // names that others have, for which apply refuses to install or upgrade
}

// Taken is a name that others have, and where the spec gives it.
type Taken struct {
	artifact.Taken
	At string `json:"at"` // file:line:column
}

// Clean reports whether the database has what the spec makes, and nothing else.
func (r Report) Clean() bool {
	return r.Installed != "" && len(r.Differences) == 0 && r.Upgrade == nil
}

// Diff compares a database with the version that is installed there, and that with the spec. It changes nothing.
func Diff(ctx context.Context, conn *pgx.Conn, e *generator.Extension, released []upgrade.Manifest) (Report, error) {
	report := Report{Extension: e.Name, Version: e.Version, Differences: []drift.Difference{}}
	if err := follows(e, released); err != nil {
		return report, err
	}
	tx, err := conn.BeginTx(ctx, underOwnPath(beginReadCommitted))
	if err != nil {
		return report, err
	}
	defer tx.Rollback(context.WithoutCancel(ctx))
	found, err := installed(ctx, tx, e.Schema)
	if err == nil && found.Name == "" {
		report.Taken, err = takenAt(ctx, tx, e, artifact.TakenByInstall(e.Manifest()))
	}
	if err != nil || found.Name == "" {
		return report, err
	}
	report.Installed, report.Flavour = found.Version, found.Flavour
	is := e.Manifest()
	member := found.Flavour == generator.AsExtension
	known, err := upgradable(ctx, tx, found, e.Schema, released)
	if err != nil {
		return report, err
	}
	if !isLike(found, e, known) {
		from, plan, err := planned(found, e, known)
		if err != nil {
			return report, err
		}
		is, report.Upgrade = from, &plan
		if report.Taken, err = takenAt(ctx, tx, e, artifact.OnlyNew(artifact.TakenByUpgrade(from, e.Manifest(), plan))); err != nil {
			return report, err
		}
	}
	differences, err := drift.Compare(ctx, tx, is, member)
	report.Differences = append(report.Differences, differences...)
	return report, errors.Join(err, ctx.Err())
}

package live

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/artifact"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Script is what Apply would run in a database, for psql: an installation, an upgrade, or nothing. It refuses what Apply refuses. What was changed by hand
// is not compared: Apply repairs it first.
func Script(ctx context.Context, conn *pgx.Conn, e *generator.Extension, options Options) (text string, err error) {
	if err := follows(e, options.Released); err != nil {
		return "", err
	}
	err = readCommitted(ctx, conn, func(tx pgx.Tx) error {
		found, err := installed(ctx, tx, e.Schema)
		known := options.Released
		if err == nil {
			known, err = upgradable(ctx, tx, found, e.Schema, known)
		}
		if err == nil && isLike(found, e, known) {
			_, err = keepsFlavour(ctx, tx, found, options.Flavour)
			text = fmt.Sprintf("-- extension %s %s is installed already\n", e.Name, e.Version)
			return err
		}
		if err == nil {
			err = askAbout(ctx, tx, e.Queries)
		}
		switch {
		case err != nil:
		case found.Name == "":
			if err = unclaimed(ctx, tx, e, artifact.TakenByInstall(e.Manifest())); err == nil {
				text, err = InstallScript(e, options)
			}
		default:
			text, err = upgradeScript(ctx, tx, found, e, known, options)
		}
		return err
	})
	return text, err
}

// InstallScript is what Apply would run where nothing is installed.
func InstallScript(e *generator.Extension, options Options) (string, error) {
	if err := follows(e, options.Released); err != nil {
		return "", err
	}
	flavour := cmp.Or(options.Flavour, generator.Plain)
	if flavour == generator.AsTLE {
		return handedFirst(e, options, installScript(e, flavour))
	}
	return framed(e, installScript(e, flavour)), nil
}

// handedFirst is a script that gives pg_tle what the rest of it takes from there.
func handedFirst(e *generator.Extension, options Options, rest string) (string, error) {
	scripts, err := e.TLE(options.Released)
	if err != nil {
		return "", err
	}
	return framed(e, scripts+rest), nil
}

func upgradeScript(ctx context.Context, tx pgx.Tx, found Installed, e *generator.Extension, known []upgrade.Manifest, options Options) (string, error) {
	from, plan, err := planned(found, e, known)
	if err != nil {
		return "", err
	}
	tle, err := keepsFlavour(ctx, tx, found, options.Flavour)
	if err == nil {
		err = unclaimed(ctx, tx, e, artifact.TakenByUpgrade(from, e.Manifest(), plan))
	}
	if err == nil {
		err = waitFor(ctx, tx, options.LockTimeout)
	}
	if err == nil {
		_, err = mayLose(ctx, tx, from, e, plan, options)
	}
	switch {
	case err != nil:
		return "", err
	case found.Flavour != generator.AsExtension:
		return framed(e, joined(artifact.UpgradeSteps(from, e.Manifest(), plan))), nil
	case tle:
		return handedFirst(e, options, alterExtension(e))
	}
	return framed(e, alterExtension(e)), nil
}

// framed is a script that runs like Apply: in one transaction, alone, and then fills new stream tables.
func framed(e *generator.Extension, body string) string {
	return fmt.Sprintf("\\set ON_ERROR_STOP on\nbegin isolation level read committed;\n%s;\n%s;\n\n%s\ncommit;\n%s", lockFor(e.Schema), byApply, body, e.Fill())
}

func installScript(e *generator.Extension, flavour generator.Flavour) string {
	if flavour != generator.Plain {
		return fmt.Sprintf("create extension %s version %s;\n%s", sqltext.Ident(e.Name), sqltext.Literal(e.Version), e.Attach(true))
	}
	return joined(e.Steps(flavour, true))
}

func alterExtension(e *generator.Extension) string {
	return fmt.Sprintf("alter extension %s update to %s;\nselect %s.attach();\n", sqltext.Ident(e.Name), sqltext.Literal(e.Version), sqltext.Ident(e.Schema))
}

func joined(steps []artifact.Step) string {
	var texts []string
	for _, step := range steps {
		texts = append(texts, step.SQL)
	}
	return strings.Join(texts, "\n")
}

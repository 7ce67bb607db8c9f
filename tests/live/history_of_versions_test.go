package live

import (
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/artifact"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// ways compares the versions that were installed, and by which way.
func ways(t *testing.T, conn *pgx.Conn, want ...string) {
	t.Helper()
	got := pgtest.Column[string](t, conn, "select concat_ws(' ', version, flavour, 'by', way) from app_internal.pgt_version_history order by no")
	if !slices.Equal(got, want) {
		t.Errorf("installed were %q, want %q", got, want)
	}
}

// TestHistoryOfEachWay installs, upgrades and goes back by scripts of migrations and of extensions, and by apply: each version is kept once, with the moment in which it came.
func TestHistoryOfEachWay(t *testing.T) {
	first, next := installed.Text(t, tleSpec), installed.Text(t, tleNext)
	released := []upgrade.Manifest{first.Manifest(), next.Manifest()}
	install := installed.Relocate(t, pgtest.Server(t).Install)
	installed.PutFiles(t, install, first)
	installed.PutFiles(t, install, next, released[0])
	server := installed.Start(t, install)

	plain := create(t, server, "plain")
	plan, err := artifact.Upgrade(released[0], released[1], false)
	if err != nil {
		t.Fatal(err)
	}
	run(t, plain, first.Install(generator.Plain))
	run(t, plain, artifact.UpgradeScript(released[0], released[1], plan))
	ways(t, plain, "1.0.0 plain by migration", "1.1.0 plain by migration")
	did, err := commandtest.Apply(t.Context(), plain, first, commandtest.ApplyOptions{Released: released, Loss: true})
	if err != nil || did.From != "1.1.0" {
		t.Fatalf("%+v: %s", did, pgtest.ErrorText(err))
	}
	run(t, plain, "select app.attach()")
	run(t, plain, "call app.tick()")
	ways(t, plain, "1.0.0 plain by migration", "1.1.0 plain by migration", "1.0.0 plain by apply")

	extension := create(t, server, "extension")
	run(t, extension, "create extension sluice_tle_test version '1.0.0'")
	ways(t, extension)
	made := pgtest.One[string](t, extension, "select installed_at::text from app.pgt_extension")
	run(t, extension, "call app.tick()") // which attaches
	ways(t, extension, "1.0.0 extension by extension")
	if noted := pgtest.One[string](t, extension, "select installed_at::text from app_internal.pgt_version_history"); noted != made {
		t.Errorf("installed at %s, and noted at %s", made, noted)
	}
	run(t, extension, "alter extension sluice_tle_test update to '1.1.0'; select app.attach()")
	run(t, extension, "select app.attach()")
	if _, err := commandtest.Apply(t.Context(), extension, next, commandtest.ApplyOptions{Released: released}); err != nil {
		t.Fatal(pgtest.ErrorText(err))
	}
	ways(t, extension, "1.0.0 extension by extension", "1.1.0 extension by extension")
}

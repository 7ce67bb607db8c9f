package live

import (
	_ "embed"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// pgtleSQL stands in for pg_tle: what it is handed becomes files of the server, which CREATE EXTENSION runs.
//
//go:embed testdata/pgtle.sql
var pgtleSQL string

const (
	tleSpec = `
version: 1
extension: {name: sluice_tle_test, version: 1.0.0, schema: app}
inboxes:
  - {name: letters}
`
	tleNext = `
version: 1
extension: {name: sluice_tle_test, version: 1.1.0, schema: app}
inboxes:
  - {name: letters, max_retries: 5}
outboxes:
  - {name: sent}
`
)

// TestTLE installs and upgrades through the functions of pg_tle, by apply and by the scripts of the artifact directory.
func TestTLE(t *testing.T) {
	install := installed.Relocate(t, pgtest.Server(t).Install)
	directory := installed.Directory(t, install)
	if err := os.Chmod(directory, 0o777); err != nil { // the server writes there, as its own user
		t.Fatal(err)
	}
	server := installed.Start(t, install)
	first, next := installed.Text(t, tleSpec), installed.Text(t, tleNext)
	released := []upgrade.Manifest{first.Manifest()}

	conn := create(t, server, "applied")
	if _, err := commandtest.Apply(t.Context(), conn, first, commandtest.ApplyOptions{Flavour: generator.AsTLE}); err == nil || !strings.Contains(err.Error(), "no extension pg_tle") {
		t.Errorf("applied without pg_tle: %v", err)
	}
	standIn(t, server, "applied", directory)
	for n, step := range []struct {
		e       *generator.Extension
		flavour generator.Flavour
		changed bool
		from    string
	}{
		{first, generator.AsTLE, true, ""},
		{first, generator.AsTLE, false, ""},
		{next, "", true, "1.0.0"}, // as it was installed
		{next, generator.AsTLE, false, ""},
	} {
		did, err := commandtest.Apply(t.Context(), conn, step.e, commandtest.ApplyOptions{Flavour: step.flavour, Released: released})
		if err != nil {
			t.Fatalf("step %d: %s", n, pgtest.ErrorText(err))
		}
		if did.Changed != step.changed || did.From != step.from {
			t.Errorf("step %d: %+v", n, did)
		}
		is(t, conn, step.e.Version)
	}
	ways(t, conn, "1.0.0 extension by apply", "1.1.0 extension by apply")
	run(t, conn, "select app.inbox_receive('letters', 'one', 'letter', '{}')")
	run(t, conn, "call app.tick()")
	// The spec of another version does not know all that has data; the database does.
	if _, removed, err := commandtest.Uninstall(t.Context(), conn, first, false); removed || err == nil || !strings.Contains(err.Error(), "deletes 1 row of app.letters") {
		t.Errorf("removed with its data: %v", err)
	}

	files, err := next.FilesOf([]string{spec.ArtifactTLE}, next.Releasing(released))
	if err != nil {
		t.Fatal(err)
	}
	script, away := files["sluice_tle_test/tle/install.sql"], files["sluice_tle_test/tle/uninstall.sql"]
	other := create(t, server, "by_script")
	standIn(t, server, "by_script", directory)
	run(t, other, script)
	run(t, other, script) // again
	run(t, other, "create extension sluice_tle_test; select app.attach()")
	is(t, other, "1.1.0")
	ways(t, other, "1.1.0 extension by tle")
	if _, err := other.Exec(t.Context(), away); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("taken away while in use: %v", err)
	}
	run(t, other, "select app.detach(); drop extension sluice_tle_test cascade")
	run(t, other, away)
	run(t, other, away) // again
	if n := pgtest.One[int](t, other, "select count(*) from pgtle.available_extensions()"); n != 0 {
		t.Errorf("%d extensions are left", n)
	}

	changed := installed.Text(t, strings.Replace(tleNext, "max_retries: 5", "max_retries: 6", 1))
	run(t, other, script)
	if _, err := commandtest.Apply(t.Context(), other, changed, commandtest.ApplyOptions{Flavour: generator.AsTLE, Released: released}); err == nil || !strings.Contains(err.Error(), "not those that the spec makes") {
		t.Errorf("applied another 1.1.0: %v", err)
	}
}

// is checks what is installed, as a member of an extension.
func is(t *testing.T, conn *pgx.Conn, version string) {
	t.Helper()
	got := pgtest.One[string](t, conn, "select concat_ws(' ', e.version, e.flavour, x.extversion) from app.pgt_extension e, pg_extension x where x.extname = e.name")
	if want := version + " extension " + version; got != want {
		t.Errorf("%s is installed, want %s", got, want)
	}
}

func standIn(t *testing.T, server *commandtest.Server, database, directory string) {
	t.Helper()
	run(t, pgtest.Connect(t, server.DSN(database)), strings.ReplaceAll(pgtleSQL, "DIRECTORY", directory))
}

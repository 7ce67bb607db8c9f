package upgrade

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestExtensionFlavour goes from versions of a stretch of the history to later ones with ALTER EXTENSION UPDATE: from each to the next and one other pair,
// chosen by SLUICE_TEST_SEED; with SLUICE_TEST_LONG=1 from every one to every later one of the whole. The catalog must be that of a fresh extension, and of the plain
// flavour, but for what extensions mark to be dumped.
func TestExtensionFlavour(t *testing.T) {
	versions := stretch(t, history(t), 6, 2)
	released := manifests(versions)
	server := serverWithFiles(t, versions)
	catalogs := map[string][]string{}
	for _, e := range versions {
		conn := server.create(t, template(e))
		if _, err := commandtest.Apply(t.Context(), conn, e, commandtest.ApplyOptions{Flavour: generator.AsExtension}); err != nil {
			t.Fatalf("installing %s: %s", e.Version, pgtest.ErrorText(err))
		}
		catalogs[e.Version] = snapshot(t, conn)
		conn.Close(t.Context()) // so that it can be copied
		t.Run(e.Version+" as in the plain flavour", func(t *testing.T) {
			pgtest.Parallel(t)
			same(t, fresh(t, e), unmarked(catalogs[e.Version]))
		})
	}
	for n, pair := range somePairs(t, later(len(versions)), 1, 1) {
		from, to := versions[pair[0]], versions[pair[1]]
		t.Run(fmt.Sprintf("%s to %s", from.Version, to.Version), func(t *testing.T) {
			t.Parallel() // all on the server that has the files
			conn := server.copy(t, template(from), fmt.Sprint("extension_", n))
			did, err := commandtest.Apply(t.Context(), conn, to, commandtest.ApplyOptions{Released: released, Loss: true})
			if err != nil || did.From != from.Version {
				t.Fatalf("upgraded from %q: %s", did.From, pgtest.ErrorText(err))
			}
			same(t, catalogs[to.Version], snapshot(t, conn))
		})
	}
}

// template is the database that is copied for upgrades from a version.
func template(e *generator.Extension) string {
	return "installed_" + strings.ReplaceAll(e.Version, ".", "_")
}

// unmarked is a catalog without the traces of extensions.
func unmarked(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return strings.HasPrefix(line, "dumped ") })
}

// serverWithFiles is a server whose share directory has the files of all versions.
func serverWithFiles(t *testing.T, versions []*generator.Extension) ownServer {
	t.Helper()
	install := installed.Relocate(t, pgtest.Server(t).Install)
	for _, e := range versions {
		installed.PutFiles(t, install, e)
	}
	last := len(versions) - 1
	installed.PutFiles(t, install, versions[last], manifests(versions)[:last]...)
	return withRoles(t, installed.Start(t, install))
}

// ownServer is a server of the test's own, with the roles that tests expect.
type ownServer struct{ *commandtest.Server }

func withRoles(t *testing.T, server *commandtest.Server) ownServer {
	t.Helper()
	exec(t, pgtest.Connect(t, server.DSN("postgres")), makeRoles)
	return ownServer{server}
}

// create makes a database with the tables that stream tables read.
func (s ownServer) create(t *testing.T, name string) *pgx.Conn {
	t.Helper()
	exec(t, pgtest.Connect(t, s.DSN("postgres")), "create database "+name+" owner "+pgtest.Owner)
	conn := pgtest.Connect(t, s.DSN(name, "user="+pgtest.Owner))
	super := pgtest.Connect(t, s.DSN(name))
	exec(t, super, "grant all on schema public to "+pgtest.Owner)
	super.Close(t.Context()) // so that the database can be copied
	exec(t, conn, sourceTables(t))
	return conn
}

// copy makes a database like another one, in which an extension is installed.
func (s ownServer) copy(t *testing.T, from, name string) *pgx.Conn {
	t.Helper()
	exec(t, pgtest.Connect(t, s.DSN("postgres")), "create database "+name+" template "+from+" owner "+pgtest.Owner)
	conn := pgtest.Connect(t, s.DSN(name, "user="+pgtest.Owner))
	exec(t, conn, notCopied)
	return conn
}

func exec(t *testing.T, conn *pgx.Conn, sql string, args ...any) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s\nin: %.300s", pgtest.ErrorText(err), sql)
	}
}

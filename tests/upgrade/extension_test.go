package upgrade

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/live"
	"github.com/pgsluice/sluice/cmd/sandbox"
	"github.com/pgsluice/sluice/cmd/verify"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/installed"
	"github.com/pgsluice/sluice/tests/pgtest"
)

// TestExtensionFlavour goes from versions to later ones with ALTER EXTENSION UPDATE: from each to the next and a few other pairs, chosen by
// SLUICE_TEST_SEED; with SLUICE_TEST_PAIRS=all from every one to every later one. The catalog must be that of a fresh extension, and of the plain
// flavour, but for what extensions mark to be dumped.
func TestExtensionFlavour(t *testing.T) {
	versions := history(t)
	released := manifests(versions)
	server := serverWithFiles(t, versions)
	catalogs := map[string][]string{}
	databases := 0
	install := func(t *testing.T, e *generator.Extension) *pgx.Conn {
		t.Helper()
		databases++
		conn := server.create(t, fmt.Sprint("extension_", databases))
		if _, err := live.Apply(t.Context(), conn, e, live.Options{Flavour: generator.AsExtension}); err != nil {
			t.Fatalf("installing %s: %s", e.Version, pgtest.ErrorText(err))
		}
		return conn
	}
	for _, e := range versions {
		catalogs[e.Version] = pgtest.Column[string](t, install(t, e), verify.SnapshotSQL)
		t.Run(e.Version+" as in the plain flavour", func(t *testing.T) { same(t, fresh(t, e), unmarked(catalogs[e.Version])) })
	}
	for _, pair := range somePairs(t, len(versions)) {
		from, to := versions[pair[0]], versions[pair[1]]
		t.Run(fmt.Sprintf("%s to %s", from.Version, to.Version), func(t *testing.T) {
			conn := install(t, from)
			did, err := live.Apply(t.Context(), conn, to, live.Options{Released: released, Loss: true})
			if err != nil || did.From != from.Version {
				t.Fatalf("upgraded from %q: %s", did.From, pgtest.ErrorText(err))
			}
			same(t, catalogs[to.Version], pgtest.Column[string](t, conn, verify.SnapshotSQL))
		})
	}
}

// unmarked is a catalog without what tells of extensions.
func unmarked(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return strings.HasPrefix(line, "dumped ") })
}

// somePairs are the pairs of neighbours and five others, or all.
func somePairs(t *testing.T, versions int) [][2]int {
	var near, far [][2]int
	for to := 1; to < versions; to++ {
		near = append(near, [2]int{to - 1, to})
		for from := range to - 1 {
			far = append(far, [2]int{from, to})
		}
	}
	if os.Getenv("SLUICE_TEST_PAIRS") != "all" {
		random := rand.New(rand.NewPCG(seed(t), 5))
		random.Shuffle(len(far), func(i, j int) { far[i], far[j] = far[j], far[i] })
		far = far[:5]
	}
	return append(near, far...)
}

// seed is SLUICE_TEST_SEED.
func seed(t *testing.T) uint64 {
	t.Helper()
	seed, _ := strconv.ParseUint(os.Getenv("SLUICE_TEST_SEED"), 10, 64)
	t.Logf("seed %d", seed)
	return seed
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
type ownServer struct{ *sandbox.Server }

func withRoles(t *testing.T, server *sandbox.Server) ownServer {
	t.Helper()
	exec(t, pgtest.Connect(t, server.DSN("postgres")), makeRoles)
	return ownServer{server}
}

// create makes a database with the tables that stream tables read.
func (s ownServer) create(t *testing.T, name string) *pgx.Conn {
	t.Helper()
	exec(t, pgtest.Connect(t, s.DSN("postgres")), "create database "+name+" owner "+pgtest.Owner)
	conn := pgtest.Connect(t, s.DSN(name, "user="+pgtest.Owner))
	exec(t, pgtest.Connect(t, s.DSN(name)), "grant all on schema public to "+pgtest.Owner)
	exec(t, conn, sourceTables(t))
	return conn
}

func exec(t *testing.T, conn *pgx.Conn, sql string, args ...any) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s\nin: %.300s", pgtest.ErrorText(err), sql)
	}
}

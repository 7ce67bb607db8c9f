package upgrade

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
	"github.com/pgsluice/sluice/tests/kit/program"
)

// killing is a server on which upgrades are killed.
type killing struct {
	t         *testing.T
	specs     string // of which folder
	versions  []*generator.Extension
	program   func(t *testing.T, args ...string) *osexec.Cmd
	fresh     map[string][]string // the catalogs of versions that another Sluice installs
	server    ownServer
	rand      *rand.Rand
	out       string // with all releases
	databases int
	typical   time.Duration // of an upgrade's session
	at        map[string]int
}

// TestKilled kills the program or the server with SIGKILL at random moments of upgrades. Afterwards the database is at the old version or at
// the new one, whole, with all its data; and apply completes what was begun. SLUICE_TEST_KILLS=n kills as often, SLUICE_TEST_SEED=n at other
// moments of other upgrades.
func TestKilled(t *testing.T) {
	pgtest.Parallel(t)
	k := startKilling(t, "history", history(t))
	k.often(t, 2, k.kill, func() (from, to int) {
		from = k.rand.IntN(len(k.versions) - 1)
		to = from + 1
		if k.rand.IntN(2) == 0 {
			to += k.rand.IntN(len(k.versions) - to)
		}
		return from, to
	})
}

// TestKilledRenames is the same for upgrades that rename everything, forth and back.
func TestKilledRenames(t *testing.T) {
	pgtest.Parallel(t)
	k := startKilling(t, "renames", generated(t, "renames/*.yaml", 5))
	k.often(t, 1, k.killRename, func() (from, to int) {
		from = k.rand.IntN(len(k.versions) - 1) // the last version has other things than the rest
		to = k.rand.IntN(len(k.versions) - 2)
		if to >= from {
			to++
		}
		return from, to
	})
}

// TestKilledOnline is the same for upgrades that fill stream tables of another definition beside the old rows.
func TestKilledOnline(t *testing.T) {
	pgtest.Parallel(t)
	k := startKilling(t, "online", generated(t, "online/*.yaml", 3))
	k.often(t, 1, k.killOnline, func() (from, to int) {
		from = k.rand.IntN(len(k.versions))
		return from, (from + 1 + k.rand.IntN(len(k.versions)-1)) % len(k.versions)
	})
}

// often kills upgrades between some versions: the program and the server in turns, with short rows so many times.
func (k *killing) often(t *testing.T, short int, kill func(t *testing.T, from, to int, how string), some func() (from, to int)) {
	t.Helper()
	kills, err := strconv.Atoi(os.Getenv("SLUICE_TEST_KILLS"))
	if err != nil {
		kills = pgtest.ShortOrLong(short, 20)
	}
	first := k.rand.IntN(2)
	for n := range kills {
		from, to := some()
		how := []string{"client", "server"}[(first+n)%2]
		t.Run(fmt.Sprintf("%d %s %s to %s", n, how, k.versions[from].Version, k.versions[to].Version), func(t *testing.T) { kill(t, from, to, how) })
	}
	t.Logf("%v", k.at)
	if kills >= 20 && len(k.at) < 4 {
		t.Errorf("killed clients and servers were not found at both versions: %v", k.at)
	}
}

func startKilling(t *testing.T, specs string, versions []*generator.Extension) *killing {
	server, err := commandtest.Start(t.Context(), commandtest.ServerOptions{Install: pgtest.Server(t).Install, Durable: true, Settings: map[string]string{"shared_buffers": "32MB"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	exec(t, pgtest.Connect(t, server.DSN("postgres")), "create role "+pgtest.Owner+" login")
	k := &killing{
		t: t, specs: specs, versions: versions, server: withRoles(t, server), rand: rand.New(rand.NewPCG(seed(t), 2)),
		out: t.TempDir(), typical: time.Second, at: map[string]int{}, program: func(t *testing.T, args ...string) *osexec.Cmd { return program.Command(t, args...) },
	}
	releases := filepath.Join(k.out, "mail", "releases")
	if err := os.MkdirAll(releases, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, m := range manifests(k.versions) {
		if err := os.WriteFile(filepath.Join(releases, m.Version+".json"), []byte(m.Encode()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return k
}

func (k *killing) create(t *testing.T) (string, *pgx.Conn) {
	t.Helper()
	k.databases++
	name := fmt.Sprint("killed_", k.databases)
	return name, k.server.create(t, name)
}

// kill kills one upgrade.
func (k *killing) kill(t *testing.T, from, to int, how string) {
	a, b := k.versions[from], k.versions[to]
	name, conn := k.create(t)
	if _, err := commandtest.Apply(t.Context(), conn, a, commandtest.ApplyOptions{}); err != nil {
		t.Fatal(pgtest.ErrorText(err))
	}
	w := &world{db: conn}
	w.use(t)
	before := w.survey(t)
	changed := changedBetween(a, b)
	conn, version := k.interrupt(t, name, to, how)
	w.db = conn
	if version != b.Version {
		kept(t, "after the kill", before, w.survey(t), func(string) bool { return false })
	}
	k.complete(t, name, conn, version, to)
	kept(t, b.Version, before, w.survey(t), changed.gone)
	w.goesOn(t, b.Version, changed)
}

// killRename kills one upgrade that renames.
func (k *killing) killRename(t *testing.T, from, to int, how string) {
	name, conn := k.create(t)
	if _, err := commandtest.Apply(t.Context(), conn, k.versions[from], commandtest.ApplyOptions{}); err != nil {
		t.Fatal(pgtest.ErrorText(err))
	}
	useEverything(t, conn, names[from], 0)
	before := state(t, conn, names[from])
	conn, version := k.interrupt(t, name, to, how)
	at := from
	if version == k.versions[to].Version {
		at = to
	}
	same(t, before, state(t, conn, names[at]))
	k.complete(t, name, conn, version, to)
	same(t, before, state(t, conn, names[to]))
	useEverything(t, conn, names[to], 1)
	equalQueries(t, conn, k.versions[to].Version)
}

// killOnline kills one upgrade, or what is filled after it. Readers see all rows of the one version or of the other. Then somebody writes, and
// apply or ticks end what was begun.
func (k *killing) killOnline(t *testing.T, from, to int, how string) {
	name, conn := k.create(t)
	exec(t, conn, "insert into public.orders select n, n % 1000, n % 100, 'paid' from generate_series(1001, 100000) n")
	if _, err := commandtest.Apply(t.Context(), conn, k.versions[from], commandtest.ApplyOptions{}); err != nil {
		t.Fatal(pgtest.ErrorText(err))
	}
	shown := func(table string) string {
		return pgtest.One[string](t, conn, fmt.Sprintf("select md5(string_agg(t::text, ' ' order by t::text)) from pgtrickle.%s t", table))
	}
	tables := []string{"totals", "listed"}
	var before []string
	for _, table := range tables {
		before = append(before, shown(table))
	}
	conn, version := k.interrupt(t, name, to, how)
	for n, table := range tables {
		query := pgtest.One[string](t, conn, "select query from pgtrickle.pgt_stream_tables where pgt_name = $1", table)
		exec(t, conn, "set search_path = public")
		computed := pgtest.One[string](t, conn, fmt.Sprintf("select md5(string_agg(t::text, ' ' order by t::text)) from (%s) t", query))
		exec(t, conn, "reset search_path")
		if now := shown(table); now != before[n] && now != computed {
			t.Errorf("readers of %s at %s see rows of neither version", table, version)
		} else if now == before[n] && version == k.versions[to].Version {
			k.at["old rows of "+table+" still shown"]++
		}
	}
	exec(t, conn, "delete from public.orders where id % 7 = 3; insert into public.orders values (1000000, 1, 5, 'paid')")
	began := time.Now()
	if version != k.versions[to].Version || k.rand.IntN(2) == 0 {
		if out, err := k.apply(name, to).CombinedOutput(); err != nil {
			t.Fatalf("apply again: %v\n%s", err, out)
		}
	} else {
		exec(t, conn, "call pgtrickle.tick()")
	}
	if version != k.versions[to].Version {
		k.typical = (k.typical + time.Since(began)) / 2
	}
	refreshAll(t, conn)
	same(t, k.catalog(t, k.versions[to].Version), snapshot(t, conn))
	equalQueries(t, conn, k.versions[to].Version)
}

// complete applies a version again, to a database that is at the one or the other.
func (k *killing) complete(t *testing.T, name string, conn *pgx.Conn, version string, to int) {
	t.Helper()
	same(t, k.catalog(t, version), unsegmented(snapshot(t, conn)))
	began := time.Now()
	if out, err := k.apply(name, to).CombinedOutput(); err != nil {
		t.Fatalf("apply again: %v\n%s", err, out)
	}
	if version != k.versions[to].Version {
		k.typical = (k.typical + time.Since(began)) / 2
	}
	same(t, k.catalog(t, k.versions[to].Version), unsegmented(snapshot(t, conn)))
	equalQueries(t, conn, k.versions[to].Version)
}

// apply is the program that upgrades a database.
func (k *killing) apply(name string, to int) *osexec.Cmd {
	dsn := k.server.DSN(name, "user="+pgtest.Owner, "application_name=upgrade")
	return k.program(k.t, "apply", "-f", fmt.Sprintf("%s/%02d.yaml", k.specs, to+1), "-o", k.out, "--dsn", dsn, "--allow-data-loss")
}

// interrupt begins an upgrade, waits for its session and kills the program or the server at a random moment of it. It returns the version that it finds
// then.
func (k *killing) interrupt(t *testing.T, name string, to int, how string) (*pgx.Conn, string) {
	t.Helper()
	k.begin(t, name, to, how)
	conn := k.quiet(t, name)
	version := pgtest.One[string](t, conn, "select version from pgtrickle.pgt_extension")
	isDone := version == k.versions[to].Version
	k.at[fmt.Sprintf("%s at %v", how, isDone)]++
	if isDone { // a machine may become busier or calmer: both are to be found
		k.typical = k.typical * 9 / 10
	} else {
		k.typical = k.typical * 11 / 10
	}
	return conn, version
}

func (k *killing) begin(t *testing.T, name string, to int, how string) {
	t.Helper()
	var said bytes.Buffer
	command := k.apply(name, to)
	command.Stderr = &said
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	watcher := pgtest.Connect(t, k.server.DSN("postgres"))
	pgtest.UntilTrue(t, watcher, "select exists (select from pg_stat_activity where application_name = 'upgrade' and xact_start is not null)")
	time.Sleep(time.Duration(k.rand.Int64N(int64(k.typical * 7 / 4)))) // the random moment; also behind the end, as some upgrades commit last of all
	if how == "client" {
		command.Process.Kill()
		command.Wait()
		return
	}
	if err := k.server.KillAll(); err != nil {
		t.Fatal(err)
	}
	command.Wait()
	if err := k.server.Restart(); err != nil {
		t.Fatal(err)
	}
}

// quiet connects, and waits until nobody else is at work in the database: a server's process outlives its client for a moment.
func (k *killing) quiet(t *testing.T, name string) *pgx.Conn {
	t.Helper()
	conn := pgtest.Connect(t, k.server.DSN(name, "user="+pgtest.Owner))
	pgtest.UntilTrue(t, conn, "select not exists (select from pg_stat_activity where application_name = 'upgrade')")
	return conn
}

// catalog is what a fresh installation of a version has.
func (k *killing) catalog(t *testing.T, version string) []string {
	t.Helper()
	if catalog := k.fresh[version]; catalog != nil {
		return unsegmented(catalog)
	}
	for _, e := range k.versions {
		if e.Version == version {
			return unsegmented(fresh(t, e))
		}
	}
	t.Fatalf("no version %s", version)
	return nil
}

var segment = regexp.MustCompile(`_from_\d+`)

// unsegmented is a catalog without the segments of outboxes: there are as many as ids were drawn.
func unsegmented(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), segment.MatchString)
}

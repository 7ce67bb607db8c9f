package upgrade

import (
	"encoding/json"
	"io/fs"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/tools/txtar"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
	"github.com/pgsluice/sluice/tests/kit/program"
)

// edit replaces a text in a file of the repository, or everywhere in templates, generator and cmd.
type edit struct{ in, old, new string }

const everywhere = "everywhere"

// toNext reads the edits that make the next Sluice of this one, and the files that it has beside them.
func toNext(t *testing.T) (edits []edit, files map[string]string) {
	t.Helper()
	archive, err := txtar.ParseFile("runtime/next.txtar")
	if err != nil {
		t.Fatal(err)
	}
	files = map[string]string{}
	for _, file := range archive.Files {
		text := strings.TrimSuffix(string(file.Data), "\n")
		if in, is := strings.CutSuffix(file.Name, " has"); is {
			edits = append(edits, edit{in: in, old: text})
		} else if file.Name == "becomes" {
			edits[len(edits)-1].new = text
		} else {
			files[file.Name] = text + "\n"
		}
	}
	return edits, files
}

// nextSluice is a program, and the artifacts of two releases of one spec, the second of which it made.
type nextSluice struct {
	path, out string
	versions  []*generator.Extension
	catalog   []string // of the second version where it installs that at once
}

func buildNext(t *testing.T) *nextSluice {
	t.Helper()
	n := &nextSluice{path: filepath.Join(t.TempDir(), "sluice"), out: t.TempDir(), versions: generated(t, "runtime/*.yaml", 2)}
	build := osexec.Command("go", "build", "-overlay", overlay(t, t.TempDir()), "-ldflags=-s", "-o", n.path, "./cmd/sluice")
	build.Dir = "../.."
	run(t, build)
	run(t, program.Command(t, "release", "-f", "runtime/01.yaml", "-o", n.out))
	run(t, n.command(t, "release", "-f", "runtime/02.yaml", "-o", n.out))
	db := pgtest.DB(t)
	sources(t, db)
	n.apply(t, db.DSN())
	n.catalog = snapshot(t, db.Connect(t))
	return n
}

func (n *nextSluice) command(_ *testing.T, args ...string) *osexec.Cmd {
	return osexec.Command(n.path, args...)
}

// apply brings a database to the second version.
func (n *nextSluice) apply(t *testing.T, dsn string) {
	t.Helper()
	n.applySpec(t, "runtime/02.yaml", dsn)
}

func (n *nextSluice) applySpec(t *testing.T, spec, dsn string) {
	t.Helper()
	run(t, n.command(t, "apply", "-f", spec, "-o", n.out, "--dsn", dsn))
}

func run(t *testing.T, cmd *osexec.Cmd) {
	t.Helper()
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, said)
	}
}

// overlay writes the files of the next Sluice that differ from those of this one, and names them as go build -overlay reads it.
func overlay(t *testing.T, dir string) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	edits, more := toNext(t)
	replaced, found, files := map[string]string{}, make([]int, len(edits)), os.DirFS(root)
	put := func(path, text string) {
		copied := filepath.Join(dir, strings.ReplaceAll(path, "/", "-"))
		if err := os.WriteFile(copied, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		replaced[filepath.Join(root, path)] = copied
	}
	for _, room := range []string{"templates", "generator", "cmd"} {
		err := fs.WalkDir(files, room, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, ".tmpl") {
				return err
			}
			text, err := fs.ReadFile(files, path)
			now, called := string(text), path
			for n, e := range edits {
				if e.in == everywhere || e.in == path {
					found[n] += strings.Count(now, e.old)
					now = strings.ReplaceAll(now, e.old, e.new)
				}
				if e.in == everywhere {
					called = strings.ReplaceAll(called, e.old, e.new)
				}
			}
			if called != path {
				replaced[filepath.Join(root, path)] = ""
			}
			if called != path || now != string(text) {
				put(called, now)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for n, e := range edits {
		if found[n] == 0 || e.in != everywhere && found[n] > 1 {
			t.Fatalf("%d times in %q: %q", found[n], e.in, e.old)
		}
	}
	for path, text := range more {
		put(path, text)
	}
	text, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestNextRuntime brings databases to the runtime of the next Sluice: under traffic, killed midway, by the migrations of a release and by ALTER EXTENSION. No row
// is lost that the next Sluice keeps elsewhere.
func TestNextRuntime(t *testing.T) {
	pgtest.Parallel(t)
	n := buildNext(t)
	t.Run("traffic", n.underTraffic)
	t.Run("killed", n.killed)
	t.Run("twice at once", n.twiceAtOnce)
	t.Run("renamed inbox", n.renamesInbox)
	t.Run("migrations", n.byMigrations)
	t.Run("extension", n.byExtension)
}

// underTraffic is an upgrade beside sessions, and then an extension of this Sluice beside it.
func (n *nextSluice) underTraffic(t *testing.T) {
	r := startTraffic(t, n.versions, nil)
	r.apply = func(t *testing.T, _ *generator.Extension, _ commandtest.ApplyOptions) {
		r.holding.Lock() // ticks settle such rows, and retention sets such columns
		exec(t, r.world.db, "insert into pgtrickle_internal.pgt_inbox_duplicates (inbox_name) select 'elsewhere' from generate_series(1, 5)")
		exec(t, r.world.db, "update pgtrickle_internal.pgt_outbox_state set last_drained_at = '2020-02-02', last_drained_count = 17 where outbox_name = 'shop_events'")
		r.holding.Unlock()
		n.apply(t, r.db.DSN())
	}
	r.upgrade(t, changes{}, n.versions[1])
	r.mayMeet(t, inFunctions...)
	db := r.world.db
	apply(t, r.db, installed.Text(t, beside), commandtest.ApplyOptions{})
	exec(t, db, "select beside.inbox_receive('letters', 'm1', 't', '{}')")
	exec(t, db, "call beside.tick()")
	exec(t, db, "call pgtrickle.tick()")
	for sql, want := range map[string]string{
		"select count(*)::text from pgtrickle_internal.pgt_inbox_repeats where inbox_name = 'elsewhere'":                            "5",
		"select concat_ws(' ', extract(year from last_drained_at), last_drained_count) from pgtrickle.outbox_status('shop_events')": "2020 17",
		"select pgtrickle.runtime_version()": "0.2.0 (core, inbox, outbox, stream)",
		"select beside.runtime_version()":    "0.1.0 (core, inbox)",
	} {
		if got := pgtest.One[string](t, db, sql); got != want {
			t.Errorf("%s\nis %s, want %s", sql, got, want)
		}
	}
}

// beside is another extension in the same database.
const beside = `
version: 1
extension: {name: beside, version: 1.0.0, schema: beside}
inboxes:
  - name: letters
`

// killed kills upgrades, or the server midway.
func (n *nextSluice) killed(t *testing.T) {
	k := startKilling(t, "runtime", n.versions)
	k.program, k.out, k.fresh, k.typical = n.command, n.out, map[string][]string{n.versions[1].Version: n.catalog}, 400*time.Millisecond
	k.often(t, 1, k.kill, func() (from, to int) { return 0, 1 })
}

// twiceAtOnce starts two upgrades of a database. One waits for the other and finds nothing to do.
func (n *nextSluice) twiceAtOnce(t *testing.T) {
	db := at(t, n.versions[0])
	w := &world{db: db.Connect(t)}
	w.use(t)
	before, said := w.survey(t), make(chan string)
	for range 2 {
		go func() {
			out, err := n.command(t, "apply", "-f", "runtime/02.yaml", "-o", n.out, "--dsn", db.DSN()).CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			said <- string(out)
		}()
	}
	if all := <-said + <-said; strings.Count(all, "upgraded from 1.0.0") != 1 || strings.Count(all, "nothing to do") != 1 {
		t.Errorf("they said\n%s", all)
	}
	kept(t, "1.1.0", before, w.survey(t), func(string) bool { return false })
	same(t, n.catalog, unmarked(unsegmented(snapshot(t, w.db))))
	w.use(t)
}

// renamesInbox has an upgrade rename an inbox, and a table with rows that name it.
func (n *nextSluice) renamesInbox(t *testing.T) {
	db := at(t, n.versions[0])
	db.Exec(t, "insert into pgtrickle_internal.pgt_inbox_duplicates (inbox_name) select 'urgent' from generate_series(1, 3)")
	n.applySpec(t, "runtime/renamed/spec.yaml", db.DSN())
	if got := pgtest.One[int](t, db, "select count(*) from pgtrickle_internal.pgt_inbox_repeats where inbox_name = 'pressing'"); got != 3 {
		t.Errorf("%d rows name the inbox, want 3", got)
	}
}

func (n *nextSluice) byMigrations(t *testing.T) {
	db := pgtest.DB(t)
	sources(t, db)
	conn, files := db.Connect(t), filesIn(t, filepath.Join(n.out, "mail", "migrations"))
	script(t, conn, files["mail_1.0.0.up.sql"])
	n.upgrade(t, conn, files["mail_1.0.0_to_1.1.0.up.sql"])
	_, err := conn.Exec(t.Context(), files["mail_1.0.0_to_1.1.0.down.sql"])
	if !strings.Contains(pgtest.ErrorText(err), "version 1.1.0 has the runtime of Sluice 0.2.0") {
		t.Errorf("the way back: %s", pgtest.ErrorText(err))
	}
}

func (n *nextSluice) byExtension(t *testing.T) {
	install := installed.Relocate(t, pgtest.Server(t).Install)
	for name, text := range filesIn(t, filepath.Join(n.out, "mail", "extension")) {
		if err := os.WriteFile(filepath.Join(installed.Directory(t, install), name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	conn := withRoles(t, installed.Start(t, install)).create(t, "by_extension")
	script(t, conn, "create extension mail version '1.0.0'; select pgtrickle.attach()")
	n.upgrade(t, conn, "alter extension mail update to '1.1.0'; select pgtrickle.attach()")
}

// upgrade runs a script that leads from the first version to the second.
func (n *nextSluice) upgrade(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	w := &world{db: conn}
	w.use(t)
	before := w.survey(t)
	script(t, conn, sql)
	kept(t, "1.1.0", before, w.survey(t), func(string) bool { return false })
	same(t, n.catalog, unmarked(unsegmented(snapshot(t, conn))))
	w.use(t)
	equalQueries(t, conn, "1.1.0")
}

// script runs statements one by one, as psql does.
func script(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	for _, statement := range pgtest.Split(sql) {
		exec(t, conn, statement)
	}
}

func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[entry.Name()] = string(text)
	}
	return files
}

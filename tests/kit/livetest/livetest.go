// Package livetest runs scripts against a live database and compares what the
// database and the command line answer with what the script says.
//
// A script is a txtar file. Its first part is data-driven: a command, its input,
// a line of four dashes, and the expected output; the flag -update writes the
// last. The files after it are put in a directory of the test's own, where the
// command line runs. Scripts that do not need the command line run side by side.
//
//	sluice apply -f specs
//	----
//	applied shop 1.0.0
//
//	sql as=shop_worker
//	select event_id from pgtrickle.inbox_claim('order_events');
//	----
//	event_id
//	--------
//	e1
//	(1 row)
//
//	-- specs/shop.yaml --
//	version: 1
//
// The commands:
//
//	sql [session=NAME] [as=ROLE]    statements, each sent by itself, up to the first error
//	until [session=NAME] [as=ROLE] [timeout=10s]    a query, repeated until it yields true
//	notifications [session=NAME]    what has been notified to a session
//	tick                            call SCHEMA.tick()
//	plpgsql_check [schema=NAME]     what plpgsql_check finds in a schema
//	sluice ARGUMENT ...             the command line, in this process
//
// Sessions stay open to the end of the script; the one without a name is the
// owner's. A script with as= has one more session for each role, which need not
// be able to log in. DATABASE_URL leads the command line to the database;
// $DSN, $SUPER_DSN and $WORK stand for the database, the same as superuser, and
// the directory, in arguments, SQL and output.
package livetest

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
	"github.com/pgsluice/sluice/tests/kit/pgtest/golden"
)

// Options say what scripts run against.
type Options struct {
	// Main is the command line: its arguments without the program's name; it
	// returns the exit status. Scripts that say sluice need it.
	Main func(args []string, stdin io.Reader, stdout, stderr io.Writer) int
	// DB makes the database of a script; nil: an empty one.
	DB func(t testing.TB) *pgtest.Database
	// DSN is how the owner reaches the database; nil: by its socket. With
	// pgtest.Pgbouncer the same scripts run through a pooler.
	DSN func(t testing.TB, db *pgtest.Database) string
	// Schema is where tick is and what plpgsql_check looks at; "": pgtrickle.
	Schema string
	// Commands are more commands for scripts, by name.
	Commands map[string]Command
}

// Command runs one command of a script and returns its output.
type Command func(env *Env, data *datadriven.TestData) string

// Env is a running script.
type Env struct {
	T    testing.TB // of the script's file
	DB   *pgtest.Database
	Work string // directory of the script's files; the current one, where there is a command line

	dsn      string
	opts     Options
	sessions map[string]*pgtest.Session
}

// Run runs every script of a directory as a subtest, each in a database and a
// directory of its own.
func Run(t *testing.T, dir string, opts Options) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts in %s: %v", dir, err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			if opts.Main == nil { // the command line has one current directory and one environment
				pgtest.Parallel(t)
			}
			RunFile(t, path, opts)
		})
	}
}

// RunFile runs one script.
func RunFile(t *testing.T, path string, opts Options) {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	env := newEnv(t, archive, opts)
	// The data-driven part runs from a copy, of the same name and with the same
	// line numbers, as the library rewrites whole files.
	script := filepath.Join(t.TempDir(), filepath.Base(path))
	if err := os.WriteFile(script, archive.Comment, 0o644); err != nil {
		t.Fatal(err)
	}
	if golden.Update() {
		if err := flag.Set("rewrite", "true"); err != nil {
			t.Fatal(err)
		}
	}
	datadriven.RunTest(t, script, env.command)
	if golden.Update() {
		update(t, path, script, archive)
	}
}

func newEnv(t *testing.T, archive *txtar.Archive, opts Options) *Env {
	t.Helper()
	if opts.DB == nil {
		opts.DB = func(t testing.TB) *pgtest.Database { return pgtest.DB(t) }
	}
	if opts.DSN == nil {
		opts.DSN = func(_ testing.TB, db *pgtest.Database) string { return db.DSN() }
	}
	if opts.Schema == "" {
		opts.Schema = "pgtrickle"
	}
	env := &Env{T: t, DB: opts.DB(t), Work: t.TempDir(), opts: opts, sessions: map[string]*pgtest.Session{}}
	env.dsn = opts.DSN(t, env.DB)
	if err := txtar.Write(archive, env.Work); err != nil {
		t.Fatal(err)
	}
	if opts.Main != nil {
		t.Chdir(env.Work)
		t.Setenv("DATABASE_URL", env.dsn)
	}
	return env
}

// Path is where a file of the script is.
func (env *Env) Path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(env.Work, name)
}

// update puts the rewritten data-driven part back before the files.
func update(t *testing.T, path, script string, archive *txtar.Archive) {
	t.Helper()
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	if len(archive.Files) > 0 && !strings.HasSuffix(string(text), "\n\n") {
		text = append(text, '\n')
	}
	archive.Comment = text
	if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
		t.Fatal(err)
	}
}

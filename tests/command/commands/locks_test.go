package commands

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

const (
	lockedBefore = "version: 1\nextension: {name: locked, version: 1.0.0}\ninboxes:\n  - {name: first, retry: none}\n  - {name: second, retry: none}\n"
	lockedAfter  = "version: 1\nextension: {name: locked, version: 1.1.0}\ninboxes:\n  - {name: first, retry: {initial: 1s}}\n  - {name: second, retry: {initial: 1s}}\n"
)

// upgrading is an apply that has an upgrade to do, whose locks others have.
type upgrading struct {
	t    *testing.T
	db   *pgtest.Database
	spec string
	out  string
	mu   sync.Mutex
	said bytes.Buffer
}

func newUpgrading(t *testing.T) *upgrading {
	t.Helper()
	db, dir := pgtest.DB(t), t.TempDir()
	before := installed.Text(t, lockedBefore)
	if _, _, err := before.Release(dir); err != nil {
		t.Fatal(err)
	}
	db.Exec(t, before.Install(generator.Plain))
	db.Exec(t, "insert into pgtrickle.first (event_id, event_type, payload) values ('a', 't', '{}')")
	spec := filepath.Join(dir, "after.yaml")
	if err := os.WriteFile(spec, []byte(lockedAfter), 0o644); err != nil {
		t.Fatal(err)
	}
	return &upgrading{t: t, db: db, spec: spec, out: dir}
}

// Write takes what apply says.
func (u *upgrading) Write(text []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.said.Write(text)
}

func (u *upgrading) heard() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.said.String()
}

// apply runs until it ends; it returns the exit status.
func (u *upgrading) apply(args ...string) int {
	args = append([]string{"apply", "-f", u.spec, "-o", u.out, "--dsn", u.db.DSN("application_name=sluice")}, args...)
	return commandtest.Main(args, strings.NewReader(""), u, u)
}

func (u *upgrading) start(args ...string) chan int {
	status := make(chan int)
	go func() { status <- u.apply(args...) }()
	return status
}

func (u *upgrading) hears(pattern string) {
	u.t.Helper()
	if said := regexp.MustCompile(pattern); !pgtest.Becomes(func() bool { return said.MatchString(u.heard()) }) {
		u.t.Fatalf("it does not say %s, but:\n%s", pattern, u.heard())
	}
}

// version is what is installed, and whether what belongs to the new one is.
func (u *upgrading) version() string {
	return pgtest.One[string](u.t, u.db, `select version || case when exists (
    select from pg_attribute where attrelid = 'pgtrickle.first'::regclass and attname = 'available_at') then ' whole' else '' end from pgtrickle.pgt_extension`)
}

func (u *upgrading) reader(sql string) *pgx.Conn {
	u.t.Helper()
	return u.begin(u.db.DSN("application_name=reports"), sql)
}

func (u *upgrading) begin(dsn, sql string) *pgx.Conn {
	u.t.Helper()
	conn := pgtest.Connect(u.t, dsn)
	if _, err := conn.Exec(u.t.Context(), "begin; "+sql); err != nil {
		u.t.Fatal(err)
	}
	return conn
}

// A reader that goes on for long delays the upgrade, and nobody else for longer than the lock timeout.
func TestUpgradeStepsAsideForReaders(t *testing.T) {
	u := newUpgrading(t)
	reader := u.reader("select from pgtrickle.first")
	status := u.start("--lock-timeout", "300ms")
	u.hears(fmt.Sprintf(`waited in vain for a lock on pgtrickle\.first that process %d \(reports, owner, idle in transaction, query began \d.*\) has; trying again in `, reader.PgConn().PID()))
	for n := range 5 {
		began := time.Now()
		u.db.Exec(t, "insert into pgtrickle.first (event_id, event_type, payload) values ($1, 't', '{}')", fmt.Sprint(n))
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("a writer waited %v", took)
		}
		time.Sleep(100 * time.Millisecond)
	}
	if got := u.version(); got != "1.0.0" {
		t.Errorf("version %s while it waits", got)
	}
	if _, err := reader.Exec(t.Context(), "rollback"); err != nil {
		t.Fatal(err)
	}
	if got := <-status; got != 0 {
		t.Fatalf("exit status %d:\n%s", got, u.heard())
	}
	if got, rows := u.version(), pgtest.One[int](t, u.db, "select count(*) from pgtrickle.first"); got != "1.1.0 whole" || rows != 6 {
		t.Errorf("version %s with %d rows", got, rows)
	}
}

// Whoever gives up says who was in the way, and leaves all as it was.
func TestUpgradeGivesUp(t *testing.T) {
	u := newUpgrading(t)
	u.reader("select from pgtrickle.second")
	if got := u.apply("--lock-timeout", "300ms", "--retry-for", "0s"); got != 3 {
		t.Errorf("exit status %d", got)
	}
	u.hears(`^sluice: waited in vain for a lock on pgtrickle\.second that process \d+ \(reports, .*\) has; nothing was changed: .*lock timeout.*\nhint: `)
	if got := u.version(); got != "1.0.0" {
		t.Errorf("version %s", got)
	}
}

// Who reads two tables in another order than the upgrade is not in its way.
func TestUpgradeMeetsNoDeadlocks(t *testing.T) {
	u := newUpgrading(t)
	reader := u.reader("select from pgtrickle.second")
	status := u.start("--lock-timeout", "1m")
	u.waitsFor("pgtrickle.second")
	if _, err := reader.Exec(t.Context(), "set lock_timeout = '1s'; select from pgtrickle.first; commit"); err != nil {
		t.Fatal(err)
	}
	if got := <-status; got != 0 || strings.Contains(u.heard(), "trying again") {
		t.Errorf("exit status %d:\n%s", got, u.heard())
	}
	if got := u.version(); got != "1.1.0 whole" {
		t.Errorf("version %s", got)
	}
}

// The victim of a deadlock tries again: here somebody comes late to be the only installer.
func TestUpgradeOutlivesDeadlocks(t *testing.T) {
	u := newUpgrading(t)
	u.db.SuperExec(t, "alter database "+u.db.Name+" set deadlock_timeout = '3s'")
	reader := u.begin(u.db.SuperDSN("deadlock_timeout=1h"), "select from pgtrickle.second") // so that it is not the victim
	status := u.start("--lock-timeout", "1m")
	u.waitsFor("pgtrickle.second")
	if _, err := reader.Exec(t.Context(), "select pg_advisory_xact_lock(hashtext('sluice apply'), hashtext('pgtrickle')); commit"); err != nil {
		t.Fatal(err)
	}
	if got := <-status; got != 0 || !strings.Contains(u.heard(), "deadlock detected, at \"locking what is upgraded\"; trying again in ") {
		t.Errorf("exit status %d:\n%s", got, u.heard())
	}
	if got := u.version(); got != "1.1.0 whole" {
		t.Errorf("version %s", got)
	}
}

// waitsFor returns when the upgrade waits for a lock on a table.
func (u *upgrading) waitsFor(table string) {
	u.t.Helper()
	until(u.t, func() bool {
		return pgtest.One[bool](u.t, u.db, "select exists (select from pg_locks where relation = $1::text::regclass and not granted)", table)
	})
}

// A connection that is lost says so; the next apply completes what it began.
func TestUpgradeLosesItsConnection(t *testing.T) {
	u := newUpgrading(t)
	reader := u.reader("select from pgtrickle.second")
	status := u.start("--lock-timeout", "1m")
	u.waitsFor("pgtrickle.second")
	u.db.SuperExec(t, "select pg_terminate_backend(pid) from pg_locks where relation = 'pgtrickle.second'::regclass and not granted")
	if got := <-status; got != 3 {
		t.Errorf("exit status %d", got)
	}
	u.hears(`sluice: the connection was lost at "locking what is upgraded": .*terminating connection.*; nothing was changed\nhint: apply again: it finds out what there is and does what is left\n$`)
	if got := u.version(); got != "1.0.0" {
		t.Errorf("version %s", got)
	}
	reader.Exec(t.Context(), "rollback")
	if got := u.apply(); got != 0 || u.version() != "1.1.0 whole" {
		t.Errorf("exit status %d, version %s:\n%s", got, u.version(), u.heard())
	}
}

// Prepared statements stay valid, unless they ask for all columns and get others.
func TestPreparedAcrossUpgrades(t *testing.T) {
	u := newUpgrading(t)
	session := pgtest.OpenSession(t, u.db.DSN(), "prepared")
	run := func(sql string) string { return session.Run(t.Context(), sql) }
	run("prepare everything as select * from pgtrickle.first; prepare named as select event_id from pgtrickle.first; prepare claim as select event_id from pgtrickle.inbox_claim('first', 1)")
	before := run("execute everything; execute named; execute claim")
	if got := u.apply(); got != 0 {
		t.Fatalf("exit status %d:\n%s", got, u.heard())
	}
	if got := run("execute everything"); !strings.Contains(got, "0A000") || !strings.Contains(got, "cached plan must not change result type") {
		t.Errorf("all columns: %s", got)
	}
	after := run("execute named; execute claim; deallocate everything; prepare everything as select * from pgtrickle.first; execute everything")
	if strings.Contains(after, "ERROR") || !strings.Contains(after, "available_at") || strings.Contains(before, "available_at") {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

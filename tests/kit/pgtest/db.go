package pgtest

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/cmd/commandtest"
)

// Database is the database of one test. Its own methods share one connection as
// the owner, for the test's goroutine alone; others call Connect.
type Database struct {
	Name   string
	Server *commandtest.Server

	t       testing.TB
	conn    *pgx.Conn
	notices noticeList
}

var databases atomic.Int64

// DB creates a database for the test, a copy of the template if one is given,
// and drops it when the test ends.
func DB(t testing.TB, template ...string) *Database {
	t.Helper()
	from := append(template, "template1")[0]
	db := &Database{Name: databaseName(t, databases.Add(1)), Server: Server(t), t: t}
	if err := createDatabase(t.Context(), db.Server, db.Name, from); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.drop)
	return db
}

func (db *Database) drop() {
	ctx := context.Background()
	if db.conn != nil {
		db.conn.Close(ctx)
	}
	err := administer(ctx, db.Server, "drop database "+quote(db.Name)+" with (force)")
	if err != nil {
		db.t.Error(err)
	}
}

// DSN is the database's connection string as its owner; parameters are as in
// commandtest.Server.DSN.
func (db *Database) DSN(params ...string) string {
	return db.Server.DSN(db.Name, append([]string{"user=" + Owner}, params...)...)
}

// SuperDSN is the database's connection string as superuser.
func (db *Database) SuperDSN(params ...string) string { return db.Server.DSN(db.Name, params...) }

// Connect opens another connection as the owner, closed when the test ends.
func (db *Database) Connect(t testing.TB, params ...string) *pgx.Conn {
	t.Helper()
	return Connect(t, db.DSN(params...))
}

// Connect opens a connection that is closed when the test ends.
func Connect(t testing.TB, dsn string) *pgx.Conn {
	t.Helper()
	return open(t, dsn, nil)
}

func open(t testing.TB, dsn string, onNotice pgconn.NoticeHandler) *pgx.Conn {
	t.Helper()
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	config.OnNotice = onNotice
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// owner is the connection of the database's own methods.
func (db *Database) owner() *pgx.Conn {
	db.t.Helper()
	if db.conn == nil {
		db.conn = open(db.t, db.DSN(), db.notices.add)
	}
	return db.conn
}

// Query makes a Database a Querier.
func (db *Database) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	return db.owner().Query(ctx, sql, args...)
}

// Exec runs SQL as the owner, many statements if there are no arguments, and
// fails the test on an error.
func (db *Database) Exec(t testing.TB, sql string, args ...any) pgconn.CommandTag {
	t.Helper()
	tag, err := db.owner().Exec(t.Context(), sql, args...)
	if err != nil {
		t.Fatalf("%s\nin: %s", ErrorText(err), sql)
	}
	return tag
}

// SuperExec is Exec as superuser.
func (db *Database) SuperExec(t testing.TB, sql string) {
	t.Helper()
	if err := superuser(t.Context(), db.Server, db.Name, sql); err != nil {
		t.Fatal(err)
	}
}

// Notices returns the messages that the database's own methods have caused
// since the last call, as in "NOTICE: text".
func (db *Database) Notices() []string { return db.notices.take() }

// noticeList collects messages of a connection.
type noticeList struct {
	sync.Mutex
	texts []string
}

func (l *noticeList) add(_ *pgconn.PgConn, notice *pgconn.Notice) {
	l.Lock()
	defer l.Unlock()
	l.texts = append(l.texts, NoticeText(notice))
}

func (l *noticeList) take() []string {
	l.Lock()
	defer l.Unlock()
	texts := l.texts
	l.texts = nil
	return texts
}

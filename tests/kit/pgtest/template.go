package pgtest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
)

// Build fills a template database. The connection is that of its owner.
type Build func(ctx context.Context, conn *pgx.Conn) error

// templates holds, by server and name, what makes each template once.
var templates sync.Map

// Template makes a database from which DB copies, once for each name on each
// server, and returns its name for DB. Later calls with that name ignore build.
func Template(t testing.TB, name string, build Build) string {
	t.Helper()
	s := Server(t)
	db := "template_" + name
	once, _ := templates.LoadOrStore([2]string{s.SocketDir, name}, sync.OnceValue(func() error {
		return makeTemplate(context.Background(), s, db, build)
	}))
	if err := once.(func() error)(); err != nil {
		t.Fatalf("template %s: %v", name, err)
	}
	return db
}

func makeTemplate(ctx context.Context, s *commandtest.Server, db string, build Build) error {
	if err := createDatabase(ctx, s, db, "template1"); err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, s.DSN(db, "user="+Owner))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	return build(ctx, conn)
}

// createDatabase copies a database, for the owner.
func createDatabase(ctx context.Context, s *commandtest.Server, name, from string) error {
	return administer(ctx, s, fmt.Sprintf("create database %s template %s owner %s", quote(name), quote(from), Owner))
}

func quote(name string) string { return pgx.Identifier{name}.Sanitize() }

// databaseName makes a name that is unique in the binary and contains the test's.
func databaseName(t testing.TB, n int64) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToLower(strings.TrimPrefix(t.Name(), "Test")))
	return fmt.Sprintf("%.50s_%d", name, n)
}

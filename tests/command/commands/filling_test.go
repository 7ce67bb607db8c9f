package commands

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// Who applies sees each stream table that is filled, and while that takes long, how far it has come and what it waits for.
func TestFillingIsTold(t *testing.T) {
	db := pgtest.DB(t)
	extension := installed.Load(t, "testdata/filling.yaml")
	db.Exec(t, "create table orders (id int primary key, amount int)")
	db.Exec(t, "insert into orders select i, i from generate_series(1, 1000) i")
	said := make(chan string, 1000)
	progress := &commandtest.Progress{DSN: db.DSN(), Every: 10 * time.Millisecond, Log: func(format string, args ...any) { said <- fmt.Sprintf(format, args...) }}
	conn, err := commandtest.ConnectNoticing(t.Context(), db.DSN(), progress.Notice)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	blocker := db.Connect(t)
	if _, err := conn.Exec(t.Context(), extension.Install(generator.Plain)); err != nil {
		t.Fatal(pgtest.ErrorText(err))
	}
	if _, err := blocker.Exec(t.Context(), "begin; lock table pgtrickle_internal.public_later_rows in exclusive mode"); err != nil {
		t.Fatal(err)
	}
	applied := make(chan error)
	go func() {
		_, err := commandtest.Apply(t.Context(), conn, extension, commandtest.ApplyOptions{Progress: progress})
		applied <- err
	}()
	for line := range said {
		if strings.HasPrefix(line, "filling public.later, 2 of 2: ") && strings.Contains(line, ", waits for a lock on pgtrickle_internal.public_later_rows that process ") {
			break
		}
	}
	if _, err := blocker.Exec(t.Context(), "rollback"); err != nil {
		t.Fatal(err)
	}
	if err := <-applied; err != nil {
		t.Fatal(pgtest.ErrorText(err))
	}
	if n := pgtest.One[int](t, db, "select count(*) from public.later"); n != 1000 {
		t.Errorf("%d rows", n)
	}
}

// A fill whose connection is lost says what is there; the next apply fills what is not filled, and nothing twice.
func TestFillingGoesOn(t *testing.T) {
	db := pgtest.DB(t)
	extension := installed.Load(t, "testdata/filling.yaml")
	db.Exec(t, "create table orders (id int primary key, amount int)")
	db.Exec(t, "insert into orders select i, i from generate_series(1, 1000) i")
	db.Exec(t, extension.Install(generator.Plain))
	blocker := db.Connect(t)
	if _, err := blocker.Exec(t.Context(), "begin; lock table pgtrickle_internal.public_later_rows in exclusive mode"); err != nil {
		t.Fatal(err)
	}
	failed := make(chan error)
	go func() {
		conn, err := commandtest.Connect(t.Context(), db.DSN())
		if err == nil {
			_, err = commandtest.Apply(t.Context(), conn, extension, commandtest.ApplyOptions{})
		}
		failed <- err
	}()
	waiting := "select exists (select from pg_locks where relation = 'pgtrickle_internal.public_later_rows'::regclass and not granted)"
	until(t, func() bool { return pgtest.One[bool](t, db, waiting) })
	db.SuperExec(t, "select pg_terminate_backend(pid) from pg_locks where relation = 'pgtrickle_internal.public_later_rows'::regclass and not granted")
	if err := <-failed; err == nil || !strings.Contains(err.Error(), "is installed, but not all of its stream tables are filled") {
		t.Errorf("the lost fill says: %v", err)
	}
	blocker.Exec(t.Context(), "rollback")
	filled := pgtest.Column[string](t, db, "select stream_table || ' ' || last_refresh_at from pgtrickle_internal.pgt_stream_table_state where seen is not null")
	if len(filled) != 1 {
		t.Fatalf("filled before: %q", filled)
	}
	if did, err := commandtest.Apply(t.Context(), db.Connect(t), extension, commandtest.ApplyOptions{}); err != nil || did.Changed {
		t.Fatalf("the second apply: %+v, %v", did, err)
	}
	now := pgtest.Column[string](t, db, "select stream_table || ' ' || last_refresh_at from pgtrickle_internal.pgt_stream_table_state where seen is not null order by last_refresh_at")
	if len(now) != 2 || now[0] != filled[0] {
		t.Errorf("filled now: %q, before: %q", now, filled)
	}
	if n := pgtest.One[int](t, db, "select count(*) from public.later"); n != 1000 {
		t.Errorf("%d rows", n)
	}
}

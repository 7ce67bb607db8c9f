package commands

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pgsluice/sluice/cmd/live"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/installed"
	"github.com/pgsluice/sluice/tests/pgtest"
)

// Who applies sees each stream table that is filled, and while that takes long, how far it has come and what it waits for.
func TestFillingIsTold(t *testing.T) {
	db := pgtest.DB(t)
	extension := installed.Load(t, "testdata/filling.yaml")
	db.Exec(t, "create table orders (id int primary key, amount int)")
	db.Exec(t, "insert into orders select i, i from generate_series(1, 1000) i")
	said := make(chan string, 1000)
	progress := &live.Progress{DSN: db.DSN(), Every: 10 * time.Millisecond, Log: func(format string, args ...any) { said <- fmt.Sprintf(format, args...) }}
	conn, err := live.ConnectNoticing(t.Context(), db.DSN(), progress.Notice)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	blocker := db.Connect(t)
	if _, err := conn.Exec(t.Context(), extension.Install(generator.Plain)); err != nil {
		t.Fatal(pgtest.ErrorText(err))
	}
	if _, err := blocker.Exec(t.Context(), "begin; lock table pgtrickle.public_later_rows in exclusive mode"); err != nil {
		t.Fatal(err)
	}
	applied := make(chan error)
	go func() {
		_, err := live.Apply(t.Context(), conn, extension, live.Options{Progress: progress})
		applied <- err
	}()
	for line := range said {
		if strings.HasPrefix(line, "filling public.later, 2 of 2: ") && strings.Contains(line, ", waits for a lock on pgtrickle.public_later_rows that process ") {
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

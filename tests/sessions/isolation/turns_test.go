package isolation

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestTurns has writers of several tables take turns.
func TestTurns(t *testing.T) { runStreams(t, "turns", "immediate") }

// TestTurnsBegin has two writers deadlock over stream tables, whichever of them the server ends: from then on, they take turns.
func TestTurnsBegin(t *testing.T) {
	db := streamsDB(t, "turns", "immediate", streams(t, "turns", "immediate"))
	ctx, a, b := t.Context(), pgtest.Connect(t, db.DSN()), pgtest.Connect(t, db.DSN())
	turn := func() (noted bool) {
		if err := a.QueryRow(ctx, "select pg_sequence_last_value('st_internal.ab_turn') is not null").Scan(&noted); err != nil {
			t.Fatal(err)
		}
		return noted
	}
	if turn() {
		t.Fatal("they take turns without a deadlock")
	}
	// One has locked ab and wants bc; the other has locked bc and wants ab.
	if _, err := a.Exec(ctx, "begin; insert into a values (1, 1)"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Exec(ctx, "begin; insert into c values (1, 1)"); err != nil {
		t.Fatal(err)
	}
	first := make(chan error)
	go func() {
		_, err := a.Exec(ctx, "insert into c values (2, 1)")
		first <- err
	}()
	_, second := b.Exec(ctx, "insert into a values (2, 1)")
	if second != nil {
		if _, err := b.Exec(ctx, "rollback"); err != nil {
			t.Fatal(err)
		}
	}
	err := errors.Join(<-first, second)
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.Code != "40P01" {
		t.Fatalf("%v, not a deadlock", err)
	}
	if _, err := a.Exec(ctx, "rollback"); err != nil {
		t.Fatal(err)
	}
	if !turn() {
		t.Error("after a deadlock they take no turns")
	}
}

package chaos

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestRoles has an owner who is no superuser, and a writer who may write the sources and read the stream tables. That works, and there is
// nothing else that the writer may do.
func TestRoles(t *testing.T) {
	for _, mode := range []string{"differential", "immediate"} {
		t.Run(mode, func(t *testing.T) {
			subject := Load(t, mode, All)
			db := subject.DB(t)
			if pgtest.One[bool](t, db, "select rolsuper or rolbypassrls or rolcreaterole from pg_roles where rolname = current_user") {
				t.Error("the owner is no plain role")
			}
			writer := pgtest.Connect(t, db.SuperDSN("user="+Writer))
			writesAndReads(t, subject, db, writer)
			mayNothingElse(t, db, writer)
		})
	}
}

// writesAndReads writes every source, and compares.
func writesAndReads(t *testing.T, subject *Subject, db *pgtest.Database, writer *pgx.Conn) {
	t.Helper()
	for _, sql := range []string{
		"insert into orders values (41, 1, 1, 77, 'new'), (42, 2, 2, 1, null)",
		"update customers set region = 9 where id = 1", "update products set kind = 'other', price = 3 where id = 1",
		"delete from orders where id = 2", "insert into events values ('e1', 3)", "truncate lines", "insert into lines values (41, 1, 4)",
	} {
		if _, err := writer.Exec(t.Context(), sql); err != nil {
			t.Errorf("%s: %s", sql, pgtest.ErrorText(err))
		}
	}
	owner := db.Connect(t)
	for _, table := range subject.tables {
		if _, err := owner.Exec(t.Context(), "select chaos.refresh_stream_table($1)", table.name); err != nil {
			t.Error(pgtest.ErrorText(err))
		}
		db.Exec(t, "grant usage on schema chaos to "+Writer+"; grant select on chaos."+table.name+" to "+Writer)
	}
	if err := subject.Check(t.Context(), writer); err != nil {
		t.Error(err)
	}
}

// mayNothingElse tries to write all that was generated.
func mayNothingElse(t *testing.T, db *pgtest.Database, writer *pgx.Conn) {
	t.Helper()
	for _, relation := range pgtest.Column[string](t, db, "select oid::regclass::text from pg_class where relnamespace = 'chaos'::regnamespace and relkind in ('r', 'v', 'p', 'S')") {
		for _, format := range []string{"delete from %", "insert into % default values", "truncate %", "alter table % owner to current_user", "select setval('%', 1)"} {
			_, err := writer.Exec(t.Context(), strings.ReplaceAll(format, "%", relation))
			var pg *pgconn.PgError
			if errors.As(err, &pg) && slices.Contains([]string{"42501", "42809", "55000"}, pg.Code) { // refused, or of a kind that nobody can write
				continue
			}
			t.Errorf("%s: %v", strings.ReplaceAll(format, "%", relation), err)
		}
	}
}

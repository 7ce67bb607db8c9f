package live

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// attempts are how often claims of random statements took each version of a message, whatever became of them: a rollback takes no notice back.
type attempts struct {
	taken    map[string]int    // by inbox, id and version of the row, and by inbox and id
	versions map[string]string // of the messages of frail, as they were at the last comparison
	died     map[string]bool   // messages of frail that had all their attempts
}

// claimed is inbox_claim, and says what it takes.
const claimed = `create function claimed(p_inbox text, p_limit int) returns setof text language plpgsql as $$
declare
    v_id text;
    v_version xid;
begin
    for v_id in select c.event_id from pgtrickle.inbox_claim(p_inbox, p_limit) c loop
        execute format('select i.xmin from pgtrickle.%I i where i.event_id = $1', p_inbox) into v_version using v_id;
        raise notice 'taken % % %', p_inbox, v_id, v_version;
        return next v_id;
    end loop;
end $$`

func newAttempts(t *testing.T, db *pgtest.Database) attempts {
	db.Exec(t, claimed)
	return attempts{taken: map[string]int{}, versions: map[string]string{}, died: map[string]bool{}}
}

// connect opens a connection whose claims are noted.
func (a attempts) connect(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if took, ok := strings.CutPrefix(n.Message, "taken "); ok {
			a.taken[took]++
			a.taken[took[:strings.LastIndex(took, " ")]]++
		}
	}
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// uncounted returns what makes the claims of a comparison count as no attempts.
func (r *randomRun) uncounted(conn *pgx.Conn) func() {
	r.t.Helper()
	const sequences = `select format('select setval(%L, %s)', c.oid::regclass, coalesce(pg_sequence_last_value(c.oid), 0)) from pg_class c
where c.relnamespace = 'pgtrickle_internal'::regnamespace and c.relname like '%\_attempts\__'`
	before := pgtest.Column[string](r.t, conn, sequences)
	return func() {
		for _, restore := range before {
			run(r.t, conn, restore)
		}
	}
}

// keepsWritersOut reports whether an open transaction counts an inbox again. A claim that finds a message without attempts left would wait for it.
func (r *randomRun) keepsWritersOut(inbox string) bool {
	r.t.Helper()
	return inbox == "frail" && pgtest.One[bool](r.t, r.check, "select exists (select from pg_locks where relation = 'pgtrickle.frail'::regclass and mode = 'ShareRowExclusiveLock')")
}

// spent reports that claims took a version of a message of frail often enough to refuse it: one may have ended before the first that counts.
func (r *randomRun) spent(id, version string) bool {
	if version == "" { // it was never committed
		return r.taken["frail "+id] >= 2
	}
	return r.taken["frail "+id+" "+version] >= 2
}

// claimable are the wanted messages without those that a claim may refuse, because they had their attempts, and does.
func (r *randomRun) claimable(inbox string, want, got []string) []string {
	if inbox != "frail" {
		return want
	}
	versions := r.frail("true")
	return slices.DeleteFunc(slices.Clone(want), func(id string) bool { return !slices.Contains(got, id) && r.spent(id, versions[id]) })
}

// frail returns the versions of messages of frail.
func (r *randomRun) frail(cond string) map[string]string {
	r.t.Helper()
	versions := map[string]string{}
	for _, row := range pgtest.Rows(r.t, r.check, "select event_id, xmin from pgtrickle.frail where "+cond) {
		versions[row[0]] = row[1]
	}
	return versions
}

// compareDead looks for dead letters that had not all their attempts.
func (r *randomRun) compareDead() {
	r.t.Helper()
	died := r.frail("error like 'claimed 3 times%'")
	for id := range died {
		if !r.died[id] && !r.spent(id, r.versions[id]) {
			r.fail(fmt.Sprintf("%s became a dead letter, though claims took it %d times, and this version %d times", id, r.taken["frail "+id], r.taken["frail "+id+" "+r.versions[id]]))
		}
	}
	clear(r.died)
	for id := range died {
		r.died[id] = true
	}
	clear(r.versions)
	for id, version := range r.frail("true") {
		r.versions[id] = version
	}
}

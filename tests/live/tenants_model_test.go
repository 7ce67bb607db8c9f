package live

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/ivm/sqltext"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestTenantsAreInboxesOfTheirOwn lets sessions of four tenants, two of each, do the same things with the same ids to an inbox that they share, their
// transactions interleaved, and each as well to an inbox that is its tenant's alone: every answer, every error and all that a tenant sees must agree, and
// the owner's counts be the sums.
func TestTenantsAreInboxesOfTheirOwn(t *testing.T) {
	seeds, steps := pgtest.ShortOrLong([]uint64{1}, []uint64{1, 2}), 220
	if n, err := strconv.ParseUint(os.Getenv("SLUICE_TEST_SEED"), 10, 64); err == nil {
		seeds = []uint64{n}
	}
	if n, err := strconv.Atoi(os.Getenv("SLUICE_TEST_STEPS")); err == nil {
		steps = n
	}
	pgtest.Connect(t, pgtest.Server(t).DSN("postgres")).Exec(t.Context(), pgtest.MakeRoles("tenants_producer", "tenants_consumer", "tenants_both"))
	extension := installed.Text(t, tenantsSpec)
	for _, seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := newTenantsRun(t, installed.DB(t, extension), seed)
			for range steps {
				r.step()
			}
			r.end()
		})
	}
}

var tenantNames = []string{`O'Brien "x" %s $1 {} \`, "tä ü", strings.Repeat("long ", 30), " "}

const tenantsSpec = `
version: 1
extension: {name: tenants, version: 1.0.0}
roles: {producer: tenants_producer, consumer: tenants_consumer}
inboxes:
  - {name: shared, tenant: "the tenant", dedup_window: 30d, retry: {backoff: constant, initial: 2h}, max_attempts: 1000, retention: {processed: 72h}}
  - {name: of_0, dedup_window: 30d, retry: {backoff: constant, initial: 2h}, max_attempts: 1000, retention: {processed: 72h}}
  - {name: of_1, dedup_window: 30d, retry: {backoff: constant, initial: 2h}, max_attempts: 1000, retention: {processed: 72h}}
  - {name: of_2, dedup_window: 30d, retry: {backoff: constant, initial: 2h}, max_attempts: 1000, retention: {processed: 72h}}
  - {name: of_3, dedup_window: 30d, retry: {backoff: constant, initial: 2h}, max_attempts: 1000, retention: {processed: 72h}}
`

// place is where a tenant's messages are: in the inbox that is shared, or in its own.
type place struct {
	inbox, idColumn, prefix string
	conn                    *pgx.Conn
}

// tenantSession is a session of a tenant, and its double.
type tenantSession struct {
	tenant int
	places [2]place
}

type tenantsRun struct {
	t        *testing.T
	rand     *rand.Rand
	owner    *pgx.Conn
	sessions []tenantSession
	log      []string
}

func newTenantsRun(t *testing.T, db *pgtest.Database, seed uint64) *tenantsRun {
	r := &tenantsRun{t: t, rand: rand.New(rand.NewPCG(seed, seed)), owner: db.Connect(t)}
	run(t, r.owner, "set lock_timeout = '30ms'")
	for tenant, name := range tenantNames {
		for range 2 {
			s := tenantSession{tenant: tenant, places: [2]place{
				{inbox: "shared", idColumn: "message_id", prefix: name + "/", conn: pgtest.Connect(t, db.SuperDSN())},
				{inbox: fmt.Sprintf("of_%d", tenant), idColumn: "event_id", conn: pgtest.Connect(t, db.SuperDSN())},
			}}
			for _, p := range s.places {
				run(t, p.conn, "grant tenants_producer, tenants_consumer to tenants_both")
				run(t, p.conn, "set role tenants_both")
				run(t, p.conn, "set lock_timeout = '30ms'")
			}
			run(t, s.places[0].conn, "set pg_trickle.tenant = "+sqltext.Literal(name))
			r.sessions = append(r.sessions, s)
		}
	}
	return r
}

func (r *tenantsRun) step() {
	if r.rand.IntN(12) == 0 {
		r.tick()
		r.compareOwner()
		return
	}
	s := r.sessions[r.rand.IntN(len(r.sessions))]
	template := r.statement()
	switch open := s.places[0].conn.PgConn().TxStatus() != 'I'; {
	case !open && r.rand.IntN(4) == 0:
		template = "begin"
	case open && r.rand.IntN(4) == 0:
		template = []string{"commit", "rollback"}[r.rand.IntN(2)]
	}
	r.both(s, template)
	if s.places[0].conn.PgConn().TxStatus() == 'E' {
		r.both(s, "rollback")
	}
	for _, view := range []string{
		"select replace({id}, {prefix}, '') as id, event_type, processed_at is null, retry_count, error, available_at > now() as later from pgtrickle.{inbox}",
		"select replace(event_id, {prefix}, '') as id, error from pgtrickle.{inbox}_dlq",
		"select replace(event_id, {prefix}, '') as id, retry_count from pgtrickle.{inbox}_pending",
		"select replace(event_id, {prefix}, '') as id, retry_count, source from pgtrickle.inbox_pending('{inbox}', 1000)",
		"select replace(u.event_id, {prefix}, '') as id, l.attempts from pgtrickle_internal.pgt_inbox_leases l, unnest(l.event_ids) u (event_id) where inbox_name = '{inbox}'",
	} {
		r.both(s, view)
	}
}

// tick does background work; it gives up where a session holds a row that it would wait for.
func (r *tenantsRun) tick() {
	var pg *pgconn.PgError
	if _, err := r.owner.Exec(r.t.Context(), "call pgtrickle.tick()"); err != nil && !(errors.As(err, &pg) && pg.Code == "55P03") {
		r.t.Fatal(pgtest.ErrorText(err))
	}
}

// both runs a statement in both places of a session, and compares what they answer.
func (r *tenantsRun) both(s tenantSession, template string) {
	var answers [2]string
	for n, p := range s.places {
		answers[n] = r.answer(p, template)
	}
	r.log = append(r.log, fmt.Sprintf("%d: %s\n    -- %s", s.tenant, template, answers[1]))
	if answers[0] != answers[1] {
		r.t.Fatalf("tenant %d has\n%s\nand would by itself have\n%s\nafter\n%s", s.tenant, answers[0], answers[1], strings.Join(r.log[max(0, len(r.log)-60):], "\n"))
	}
}

// answer is the result of a statement, or its error, in words that do not tell the place.
func (r *tenantsRun) answer(p place, template string) string {
	sql := strings.NewReplacer("{inbox}", p.inbox, "{id}", p.idColumn, "{prefix}", sqltext.Literal(p.prefix)).Replace(template)
	for _, id := range ids {
		sql = strings.ReplaceAll(sql, "<"+id+">", sqltext.Literal(p.prefix+id))
	}
	said := func(text string) string {
		return strings.NewReplacer(p.prefix, "", p.inbox, "inbox").Replace(text)
	}
	results, err := p.conn.PgConn().Exec(r.t.Context(), sql).ReadAll()
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		if !slices.Contains(expected, pg.Code) {
			r.t.Fatalf("%s\nin %s", pgtest.ErrorText(err), sql)
		}
		if pg.Code == "23505" {
			return pg.Code // under row-level security PostgreSQL does not say which key
		}
		return pg.Code + " " + said(pg.Message) + " " + said(pg.Detail)
	} else if err != nil {
		r.t.Fatal(err)
	}
	return answered(results, said)
}

// answered are the rows of results, or what they did, in an order that does not depend on plans.
func answered(results []*pgconn.Result, said func(string) string) string {
	var rows []string
	for _, result := range results {
		for _, row := range result.Rows {
			texts := make([]string, len(row))
			for n, value := range row {
				texts[n] = said(string(value))
			}
			rows = append(rows, strings.Join(texts, " | "))
		}
		if len(result.Rows) == 0 {
			rows = append(rows, result.CommandTag.String())
		}
	}
	slices.Sort(rows)
	return strings.Join(rows, "\n       ")
}

// compareOwner compares the counts of what is shared with the sums of those of each tenant by itself.
func (r *tenantsRun) compareOwner() {
	counts := func(from string) string {
		return strings.Join(pgtest.Column[string](r.t, r.owner, `select concat_ws(' ', event_type, sum(pending), sum(processed), sum(dead_letter))
from (`+from+`) s group by event_type having sum(pending) + sum(processed) + sum(dead_letter) > 0 order by event_type`), "\n")
	}
	var each []string
	for tenant := range tenantNames {
		each = append(each, fmt.Sprintf("select * from pgtrickle.of_%d_stats", tenant))
	}
	if got, want := counts("select * from pgtrickle.shared_stats"), counts(strings.Join(each, " union all ")); got != want {
		r.t.Fatalf("the owner counts\n%s\ninstead of\n%s\nafter\n%s", got, want, strings.Join(r.log, "\n"))
	}
}

// end has each tenant process all that it can.
func (r *tenantsRun) end() {
	for _, s := range r.sessions {
		r.both(s, "rollback")
	}
	for range 3 {
		r.tick()
	}
	for _, s := range r.sessions {
		r.both(s, "select count(pgtrickle.inbox_mark_processed('{inbox}', event_id)) from pgtrickle.inbox_claim('{inbox}', 1000)")
	}
	r.compareOwner()
}

var ids = strings.Split("a b c d e f g h a/b", " ")

func (r *tenantsRun) some() string {
	list := make([]string, 1+r.rand.IntN(3))
	for n := range list {
		list[n] = "<" + ids[r.rand.IntN(len(ids))] + ">"
	}
	return strings.Join(list, ", ")
}

// statement makes one up: {inbox} stands for the place, {id} for the column of the sender's id, <x> for the id of message x.
func (r *tenantsRun) statement() string {
	id, kind := ids[r.rand.IntN(len(ids))], []string{"t", "u"}[r.rand.IntN(2)]
	other := ids[r.rand.IntN(len(ids))]
	all := []string{
		fmt.Sprintf("select pgtrickle.inbox_receive('{inbox}', '%s', '%s', '{}')", id, kind),
		fmt.Sprintf("select pgtrickle.inbox_receive('{inbox}', '%s', '%s', '{}', p_available_at => now() + interval '1 hour')", id, kind),
		fmt.Sprintf(`select * from pgtrickle.inbox_receive_many('{inbox}', '[{"event_id": "%s", "event_type": "%s", "payload": 1}, {"event_id": "%s", "event_type": "u", "payload": 2}]')`, id, kind, other),
		fmt.Sprintf("insert into pgtrickle.{inbox} ({id}, event_type, payload) values ('%s', '%s', '{}'), ('%s', 't', '1') on conflict (event_id) do nothing", id, kind, other),
		fmt.Sprintf("insert into pgtrickle.{inbox} ({id}, event_type, payload) values ('%s', '%s', '{}')", id, kind),
		"select event_id, payload from pgtrickle.inbox_claim('{inbox}', 1000)",
		"select count(*) from pgtrickle.inbox_claim('{inbox}', 2)",
		"select pgtrickle.inbox_mark_processed('{inbox}', event_id) from pgtrickle.inbox_claim('{inbox}', 1000)",
		"select event_id, lease_id > 0 from pgtrickle.inbox_claim_lease('{inbox}', 1000, '1 hour')",
		fmt.Sprintf("select pgtrickle.inbox_mark_processed('{inbox}', <%s>)", id),
		fmt.Sprintf("select pgtrickle.inbox_mark_processed('{inbox}', <%s>)", other),
		fmt.Sprintf("select pgtrickle.inbox_mark_processed('{inbox}', array[%s])", r.some()),
		fmt.Sprintf("select pgtrickle.inbox_mark_failed('{inbox}', <%s>, 'no')", id),
		fmt.Sprintf("select pgtrickle.inbox_mark_failed('{inbox}', <%s>, 'never') from generate_series(1, 3)", id),
		fmt.Sprintf("select pgtrickle.inbox_mark_failed('{inbox}', array[%s], 'none')", r.some()),
		fmt.Sprintf("select pgtrickle.replay_inbox_messages('{inbox}', array[%s], p_include_processed => %t)", r.some(), r.rand.IntN(2) == 0),
		fmt.Sprintf("select pgtrickle.replay_inbox_messages('{inbox}', p_event_type => '%s')", kind),
		fmt.Sprintf("update pgtrickle.{inbox} set processed_at = now() where event_type = '%s' and processed_at is null", kind),
		fmt.Sprintf("update pgtrickle.{inbox} set retry_count = 0, error = null, available_at = null where event_id in (%s)", r.some()),
		fmt.Sprintf("select event_id from pgtrickle.{inbox} where event_type = '%s' and processed_at is null for update skip locked", kind),
	}
	leased := "(select min(lease_id) from pgtrickle_internal.pgt_inbox_leases where inbox_name = '{inbox}' and event_ids @> array[<" + id + ">])"
	for _, call := range []string{
		"inbox_mark_processed('{inbox}', <%[1]s>, %[2]s)", "inbox_mark_failed('{inbox}', <%[1]s>, 'lost', %[2]s)", "inbox_release('{inbox}', array[<%[1]s>], %[2]s)",
		"inbox_extend('{inbox}', array[<%[1]s>], %[2]s, '2 hours') > now()",
	} {
		all = append(all, "select pgtrickle."+fmt.Sprintf(call, id, leased))
	}
	return all[r.rand.IntN(len(all))]
}

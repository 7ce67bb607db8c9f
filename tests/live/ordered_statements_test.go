package live

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestOrderedStatements does to inboxes with ordering whatever SQL allows, many messages a statement, and compares after each what is next, what is
// missing and what is claimed with a recount. SLUICE_TEST_SEED=n runs the one seed n.
func TestOrderedStatements(t *testing.T) {
	seeds := []uint64{1, 2, 3}
	if n, err := strconv.ParseUint(os.Getenv("SLUICE_TEST_SEED"), 10, 64); err == nil {
		seeds = []uint64{n}
	}
	// The view shows a table of the user's as the others are, whatever its columns are called.
	const tasks = `
create table public."Tasks" (
    "Id" varchar(40) collate "C" unique not null, "Type" text not null, body jsonb not null, ref varchar(20), "No" integer, got timestamptz not null default clock_timestamp(),
    done timestamptz, error text, tries integer not null default 0, due timestamptz
);
create view public.mine as
select "Id" as event_id, "Type" as event_type, body as payload, ref as aggregate_id, "No" as number, done as processed_at, tries as retry_count, due as available_at from public."Tasks";
`
	ddl := tasks + orderedPairs + orderedParts + orderedStreams
	extension := installed.Over(t, `
version: 1
extension: {name: ordered, version: 1.0.0}
schema: [schema.sql]
inboxes:
  - name: mine
    table: public.Tasks
    columns: {id: Id, event_type: Type, payload: body, aggregate_id: ref, received_at: got, processed_at: done, retry_count: tries, available_at: due}
    ordering: {sequence: "No"}
    retry: {backoff: constant, initial: 2h}
    max_attempts: 1000
  - name: pair
    table: public.pairs
    columns: {id: [part, name], event_type: type, aggregate_id: ref, processed_at: done, available_at: due}
    ordering: {sequence: number}
    retry: {backoff: constant, initial: 2h}
    max_attempts: 1000
  - name: part
    table: public.parts
    columns: {id: [part, name], event_type: type, aggregate_id: ref, processed_at: done, available_at: due}
    ordering: {sequence: number}
    retry: {backoff: constant, initial: 2h}
    max_attempts: 1000
  - name: stream
    table: public.streams
    columns: {id: [ref, number], event_type: type, aggregate_id: ref, processed_at: done, available_at: due}
    ordering: {sequence: number}
    retry: {backoff: constant, initial: 2h}
    max_attempts: 1000
  - {name: blocked, ordering: {sequence: number, start: 0}, retry: {backoff: constant, initial: 2h}, max_attempts: 1000}
  - {name: skipped, ordering: {sequence: number, on_dead_letter: skip}, retry: {backoff: constant, initial: 2h}, max_attempts: 1000}
  - {name: loose, ordering: {sequence: number, mode: monotonic}, retry: {backoff: constant, initial: 2h}, max_attempts: 1000}
`, ddl)
	template := pgtest.Template(t, "ordered over tasks", func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, ddl+extension.Install(generator.Plain))
		return err
	})
	for _, seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			db := pgtest.DB(t, template)
			conn, r := db.Connect(t), rand.New(rand.NewPCG(seed, seed))
			var log []string
			for range 150 {
				inbox := []string{"blocked", "skipped", "loose", "mine", "pair", "part", "stream"}[r.IntN(7)]
				table := "pgtrickle." + inbox
				pairs := inbox == "pair" || inbox == "part"
				stream := inbox == "stream"
				if inbox == "mine" || pairs || stream {
					table = "public." + inbox
				}
				sql := strings.ReplaceAll(orderedStatement(r), "INBOX", table)
				if pairs {
					sql = strings.ReplaceAll(sql, "'m", "'m/")
				}
				log = append(log, sql)
				if _, err := conn.Exec(t.Context(), sql); err != nil && !strings.Contains(err.Error(), "P0002") && !(stream && strings.Contains(err.Error(), "23505")) {
					t.Fatalf("%s\n%s", pgtest.ErrorText(err), strings.Join(log, ";\n"))
				}
				last := map[string]string{"blocked": "-1", "skipped": "0", "loose": "null", "mine": "0", "pair": "0", "part": "0", "stream": "0"}[inbox]
				open := "processed_at is null"
				if inbox == "skipped" {
					open += " and retry_count < 3"
				}
				next := "select event_id from pgtrickle.next_" + inbox
				if inbox == "mine" {
					next = `select "Id" as event_id from pgtrickle.next_mine`
				}
				if pairs {
					table, next = table+"_ids", "select concat(part, '/', replace(name, '/', '~1')) as event_id from pgtrickle.next_"+inbox
				}
				if stream {
					table, next = table+"_ids", "select concat(ref, '/', number) as event_id from pgtrickle.next_stream"
				}
				words := strings.NewReplacer("TABLE", table, "NEXT", next, "INBOX", inbox, "BEFORE", last, "OPEN", open)
				queries := []string{orderedBacklog, orderedNext}
				if inbox != "loose" {
					queries = append(queries, orderedGaps)
				}
				for _, query := range queries {
					if found := pgtest.Column[string](t, conn, words.Replace(query)); len(found) > 0 {
						t.Fatalf("%s: %s\n%s", inbox, strings.Join(found, "; "), strings.Join(log, ";\n"))
					}
				}
			}
		})
	}
}

// orderedPairs is a table with an id of two columns. Statements name a message by one of them, the other follows from it.
const orderedPairs = `
create table public.pairs (
    name text not null, part smallint not null default 0, type text not null, payload jsonb not null, ref text, number bigint,
    received_at timestamptz not null default clock_timestamp(), done timestamptz, error text, retry_count integer not null default 0, due timestamptz,
    primary key (name, part)
);
create function public.split() returns trigger language plpgsql as $$
begin
    new.part := hashtext(new.name) % 2;
    return new;
end $$;
create trigger split before insert on public.pairs for each row execute function public.split();
create view public.pair as
select name as event_id, type as event_type, payload, ref as aggregate_id, number, done as processed_at, retry_count, due as available_at from public.pairs;
create view public.pair_ids as
select concat(p.part, '/', replace(p.name, '/', '~1')) as event_id, ref as aggregate_id, number, done as processed_at, retry_count, due as available_at from public.pairs p;
`

// orderedParts is the same table in partitions.
var orderedParts = strings.NewReplacer("pair", "part", "create function public.split", "create function public.split_part",
	"primary key (name, part)\n)", "primary key (name, part)\n) partition by hash (name)").Replace(orderedPairs) + `
create table public.part_0 partition of public.parts for values with (modulus 2, remainder 0);
create table public.part_1 partition of public.parts for values with (modulus 2, remainder 1);
`

// orderedStreams is a table whose key is the aggregate with the sequence, as event stores have it.
const orderedStreams = `
create table public.streams (
    ref text not null, number integer not null, name text not null, type text not null, payload jsonb not null,
    received_at timestamptz not null default clock_timestamp(), done timestamptz, error text, retry_count integer not null default 0, due timestamptz,
    primary key (number, ref)
);
create function public.stream_of() returns trigger language plpgsql as $$
begin
    new.ref := coalesce(new.ref, 'n');
    new.number := coalesce(new.number, 0);
    return new;
end $$;
create trigger stream_of before insert or update on public.streams for each row execute function public.stream_of();
create view public.stream as
select name as event_id, type as event_type, payload, ref as aggregate_id, number, done as processed_at, retry_count, due as available_at from public.streams;
create view public.stream_ids as
select concat(ref, '/', number) as event_id, ref as aggregate_id, number, done as processed_at, retry_count, due as available_at from public.streams;
`

// orderedStatement is one of an application, or a tick.
func orderedStatement(r *rand.Rand) string {
	some := func() string { // ids
		ids := []string{"'none'"}
		for range 1 + r.IntN(6) {
			ids = append(ids, fmt.Sprintf("'m%d'", r.IntN(60)))
		}
		return strings.Join(ids, ", ")
	}
	switch r.IntN(12) {
	case 0, 1, 2, 3:
		var rows []string
		for range 1 + r.IntN(6) {
			aggregate, number, processed := []string{"'a'", "'b'", "'B'", "'ä'", "null"}[r.IntN(5)], strconv.Itoa(r.IntN(8)), "null"
			if r.IntN(12) == 0 {
				number = "null"
			}
			if r.IntN(12) == 0 {
				processed = "now()"
			}
			rows = append(rows, fmt.Sprintf("('m%d', 't', '{}', %s, %s, %s, %d)", r.IntN(60), aggregate, number, processed, r.IntN(5)*r.IntN(2)))
		}
		return "insert into INBOX (event_id, event_type, payload, aggregate_id, number, processed_at, retry_count) values " + strings.Join(rows, ", ") + " on conflict do nothing"
	case 4, 5, 6:
		return "update INBOX set processed_at = now() where event_id in (" + some() + ")"
	case 7:
		return "update INBOX set retry_count = retry_count + 1 where processed_at is null and event_id in (" + some() + ")"
	case 8:
		return "update INBOX set processed_at = null, retry_count = 0 where event_id in (" + some() + ")"
	case 9:
		return fmt.Sprintf("update INBOX set number = number + %d, aggregate_id = case when event_id like '%%1' then 'a' else aggregate_id end where processed_at is null and event_id in (%s)", r.IntN(2), some())
	case 10:
		return "delete from INBOX where event_id in (" + some() + ")"
	}
	return "call pgtrickle.tick()"
}

// orderedRows are the open messages of an inbox as its backlog holds them, with the last number of their aggregates that was processed.
const orderedRows = `
with open as (
    select i.*, aggregate_id is not null and number is not null as has_key from TABLE i where OPEN
), t as (
    select o.*, case when has_key then 'a' || aggregate_id else 'm' || md5(event_id) end as key, coalesce(number, 0) as no from open o
), u as (
    select t.*, coalesce((select max(last_sequence) from pgtrickle_internal.pgt_inbox_sequences s where s.inbox_name = 'INBOX' and s.aggregate_key = t.key), BEFORE) as last
    from t
)`

const orderedBacklog = orderedRows + `
select 'backlog lacks ' || x.event_id from (select key, no, event_id from u except all select aggregate_key, sequence, event_id from pgtrickle_internal.INBOX_backlog) x
union all
select 'backlog has ' || x.event_id from (select aggregate_key, sequence, event_id from pgtrickle_internal.INBOX_backlog except all select key, no, event_id from u) x
union all
select 'lower than what is processed: ' || aggregate_id from (
    select aggregate_id, max(number) as processed from TABLE where not (OPEN) and BEFORE is not null and aggregate_id is not null group by 1
) p where processed > (select max(last_sequence) from pgtrickle_internal.pgt_inbox_sequences s where s.inbox_name = 'INBOX' and s.aggregate_key = 'a' || aggregate_id)`

const orderedNext = orderedRows + `, next as (
    select event_id from (select distinct on (key) * from u order by key, no, event_id collate "C") f
    where retry_count < 3 and (available_at is null or available_at <= now()) and (no <= last + 1 or last is null or not has_key)
), claims as materialized (
    select event_id from pgtrickle.inbox_claim('INBOX', 100)
)
select 'not next: ' || event_id from (select event_id from next except all NEXT) x
union all
select 'wrongly next: ' || event_id from (NEXT except all select event_id from next) x
union all
select 'not claimed: ' || event_id from (select event_id from next except all select event_id from claims) x
union all
select 'wrongly claimed: ' || event_id from (select event_id from claims except all select event_id from next) x`

const orderedGaps = orderedRows + `, gaps as (
    select aggregate_id, before + 1 as missing_from, no - 1 as missing_to
    from (select u.*, greatest(lag(no) over (partition by key order by no, event_id collate "C"), last) as before from u where has_key) g
    where before + 1 < no
)
select 'no gap: ' || x::text from (select * from gaps except all select aggregate_id, missing_from, missing_to from pgtrickle.inbox_ordering_gaps('INBOX')) x
union all
select 'wrong gap: ' || x::text from (select aggregate_id, missing_from, missing_to from pgtrickle.inbox_ordering_gaps('INBOX') except all select * from gaps) x`

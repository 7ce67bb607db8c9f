package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
)

// earlierSpec is installed twice on one server: as this commit generates it, and as an earlier one did.
const earlierSpec = `
version: 1
extension: {name: same, version: 1.0.0, schema: same}
schema: [schema.sql]
inboxes:
  - {name: letters}
  - {name: turns, ordering: {}}
outboxes:
  - {name: events}
  - {name: keyed, ordering_key: aggregate_id}
consumer_groups:
  - {name: readers, outbox: events, auto_offset_reset: earliest}
stream_tables:
  - name: later
    refresh_mode: differential
    query: |
      select g, count(*) as n, sum(v) as total from a group by g
  - name: kept
    refresh_mode: differential
    query: |
      select a.id, a.v, d.name from a join d on d.g = a.g where a.v > 500
  - name: now
    refresh_mode: immediate
    query: |
      select g, count(*) as n, sum(v) as total from b group by g
  - name: at_commit
    refresh_mode: at_commit
    query: |
      select g, count(*) as n, sum(v) as total from c group by g
`

const earlierDDL = `
create table d (g int primary key, name text not null);
insert into d select g, 'name ' || g from generate_series(0, 999) g;
create table a (id bigint generated always as identity primary key, g int not null, v int not null);
create table b (like a including all);
create table c (like a including all);
insert into a (g, v) select n % 1000, n % 1000 from generate_series(1, 100000) n;
insert into b (g, v) select g, v from a;
insert into c (g, v) select g, v from a;
create sequence ids;
`

// repeated is a call that is made over and over.
type repeated struct {
	name     string
	prepare  []string // before each round
	call     string   // a statement, or several of one transaction, with semicolons between
	messages int      // that one call handles
}

// received is an inbox that 40,000 messages of 10,000 aggregates wait in, which a tick has counted.
func received(inbox string) []string {
	return []string{
		"truncate same." + inbox, "insert into same." + inbox + " (event_id, event_type, aggregate_id, payload) select n::text, 't' || n % 3, 'a' || n % 10000, '{\"n\": 1}' " +
			"from generate_series(1, 40000) n",
		"call same.tick()", "call same.tick()", "vacuum analyze same." + inbox, "checkpoint",
	}
}

// mostHandled ends a turn before an inbox is empty.
const mostHandled = 30_000

var published = []string{"truncate same.outbox_events", "truncate same.outbox_keyed", "call same.tick()", "checkpoint"}

// earlierCalls are what applications call often. One statement has both a claim and its marks, so that the way there and back does not hide what the server does.
var earlierCalls = func() (all []repeated) {
	for _, n := range []int{1, 10, 100} {
		claimed := fmt.Sprintf("select same.inbox_mark_processed('letters', array(select event_id from same.inbox_claim('letters', %d)))", n)
		all = append(all, repeated{fmt.Sprintf("claim and mark %d", n), received("letters"), claimed, n})
	}
	return append(all,
		repeated{"claim and mark 10, in order", received("turns"), "select same.inbox_mark_processed('turns', array(select event_id from same.inbox_claim('turns', 10)))", 10},
		repeated{"lease and mark 10", received("letters"),
			"select same.inbox_mark_processed('letters', array_agg(event_id), min(lease_id)) from same.inbox_claim_lease('letters', 10)", 10},
		repeated{"inbox_receive", received("letters"), "select same.inbox_receive('letters', 'x' || nextval('ids'), 't', '{\"n\": 1}')", 1},
		repeated{"inbox_receive_many 100", received("letters"),
			"select count(*) from same.inbox_receive_many('letters', (select jsonb_agg(jsonb_build_object('event_id', 'x' || nextval('ids'), 'event_type', 't', 'payload', '{}'::jsonb)) from generate_series(1, 100)))", 100},
		repeated{"insert into an inbox", received("letters"), "insert into same.letters (event_id, event_type, payload) values ('x' || nextval('ids'), 't', '{}')", 1},
		repeated{"outbox_publish", published, "select same.outbox_publish('events', 't', '{\"n\": 1}')", 1},
		repeated{"outbox_publish, in order", published, "select same.outbox_publish('keyed', 't', '{\"n\": 1}', p_aggregate_id => 'a')", 1},
		repeated{"outbox_publish_many 100", published,
			"select count(*) from same.outbox_publish_many('events', (select jsonb_agg(jsonb_build_object('event_type', 't', 'payload', '{}'::jsonb)) from generate_series(1, 100)))", 100},
		repeated{"poll and commit 100", append([]string{"truncate same.outbox_events", "insert into same.outbox_events (event_type, payload) select 't', '{}' from generate_series(1, 200000)", "vacuum analyze same.outbox_events"}, published[2:]...),
			"select same.commit_offset('readers', 'one', max(id)) from same.poll_outbox('readers', 'one', 100)", 100},
		repeated{"tick with nothing to do", published, "call same.tick()", 1},
		repeated{"inbox_health", received("letters"), "select same.inbox_health('letters')", 1},
		repeated{"inbox_status", received("letters"), "select * from same.inbox_status()", 1},
		repeated{"refresh after 1 row", nil, "insert into a (g, v) values (1, 501); select same.refresh_stream_table('later'), same.refresh_stream_table('kept')", 1},
		repeated{"refresh after 100 rows", nil, "insert into a (g, v) select n, 501 from generate_series(1, 100) n; select same.refresh_stream_table('later'), same.refresh_stream_table('kept')", 100},
		repeated{"insert 1 row, deferred", nil, "insert into a (g, v) values (1, 501)", 1},
		repeated{"insert 1 row, immediate", nil, "insert into b (g, v) values (1, 501)", 1},
		repeated{"insert 100 rows, immediate", nil, "insert into b (g, v) select n, 501 from generate_series(1, 100) n", 100},
		repeated{"insert 1 row, at commit", nil, "insert into c (g, v) values (1, 501)", 1},
		repeated{"insert 100 rows, at commit", nil, "insert into c (g, v) select n, 501 from generate_series(1, 100) n", 100},
	)
}()

func earlierCases() []benchCase {
	var all []benchCase
	for _, c := range earlierCalls {
		all = append(all, benchCase{earlierSection, c.name, func(ctx context.Context, b *bench) ([]row, error) { return b.repeat(ctx, c) }})
	}
	return all
}

// repeat measures a call: one of this commit, one of the earlier one, and so on, so that what else the machine does falls on both.
func (b *bench) repeat(ctx context.Context, c repeated) ([]row, error) {
	if err := b.installEarlier(ctx); err != nil {
		return nil, err
	}
	times := make([][]float64, len(earlierDatabases))
	for range b.cfg.Rounds {
		conns := make([]*pgx.Conn, len(earlierDatabases))
		for n, name := range earlierDatabases {
			conn, err := pgx.Connect(ctx, b.server.DSN(name, "synchronous_commit=off"))
			if err != nil {
				return nil, err
			}
			defer conn.Close(context.WithoutCancel(ctx))
			if err := execute(ctx, conn, c.prepare...); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			conns[n] = conn
		}
		for calls, end := 0, time.Now().Add(2*b.cfg.turn()); calls <= firstCalls || time.Now().Before(end) && calls*c.messages < mostHandled; calls++ {
			for n, conn := range conns {
				start := time.Now()
				if err := c.run(ctx, conn); err != nil {
					return nil, fmt.Errorf("%s: %w", earlierDatabases[n], err)
				}
				if calls >= firstCalls {
					times[n] = append(times[n], float64(time.Since(start).Nanoseconds())/1e3)
				}
			}
		}
	}
	x := row{Case: c.name, Unit: "µs"}
	x.goal(goal{"ratio >= 0.95", func(r row) bool { return r.Ratio.Median >= 0.95 }})
	x.compare(times[0], times[1])
	return []row{x}, nil
}

// firstCalls make the plans of a session and are not timed.
const firstCalls = 10

func (c repeated) run(ctx context.Context, conn *pgx.Conn) error {
	statements := strings.Split(c.call, "; ")
	if len(statements) == 1 {
		return execute(ctx, conn, statements...)
	}
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return execute(ctx, tx.Conn(), statements...) })
}

// earlierDatabases have what this commit generates, and what the earlier one does.
var earlierDatabases = []string{"this_commit", "earlier_commit"}

// installEarlier makes the two databases once.
func (b *bench) installEarlier(ctx context.Context) error {
	if b.made[earlierSection] {
		return nil
	}
	dir, err := os.MkdirTemp("", "sluice-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := writeFiles(dir, map[string]string{"spec.yaml": earlierSpec, "schema.sql": earlierDDL}); err != nil {
		return err
	}
	extension, err := compile(dir)
	if err != nil {
		return err
	}
	earlier, err := b.buildEarlier(ctx, dir)
	if err != nil {
		return err
	}
	for n, name := range earlierDatabases {
		err := connected(ctx, b.server.DSN("postgres"), func(conn *pgx.Conn) error { return execute(ctx, conn, "create database "+name+" template template0") })
		if err != nil {
			return err
		}
		err = connected(ctx, b.server.DSN(name), func(conn *pgx.Conn) error {
			if _, err := conn.PgConn().Exec(ctx, earlierDDL).ReadAll(); err != nil {
				return err
			}
			if n == 0 {
				_, err := commandtest.Apply(ctx, conn, extension, commandtest.ApplyOptions{})
				return err
			}
			out, err := exec.CommandContext(ctx, earlier, "apply", "-f", dir, "--dsn", b.server.DSN(name)).CombinedOutput()
			if err != nil {
				return fmt.Errorf("sluice apply of the earlier commit: %w\n%s", err, out)
			}
			return nil
		})
		if err == nil {
			err = connected(ctx, b.server.DSN(name), func(conn *pgx.Conn) error { return execute(ctx, conn, "call same.tick()", "vacuum analyze") })
		}
		if err != nil {
			return err
		}
	}
	b.made[earlierSection] = true
	return nil
}

// buildEarlier builds the command of the commit, or of a directory with its sources.
func (b *bench) buildEarlier(ctx context.Context, dir string) (path string, err error) {
	source, path := b.cfg.Earlier, filepath.Join(dir, "sluice")
	if info, err := os.Stat(source); err != nil || !info.IsDir() {
		source = filepath.Join(dir, "source")
		script := `mkdir "$1" && git -C "$(git rev-parse --show-toplevel)" archive "$0" | tar -x -C "$1"`
		if out, err := exec.CommandContext(ctx, "sh", "-c", script, b.cfg.Earlier, source).CombinedOutput(); err != nil {
			return "", fmt.Errorf("commit %s of -earlier: %w\n%s", b.cfg.Earlier, err, out)
		}
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", path, "./cmd/sluice")
	build.Dir = source
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build of %s: %w\n%s", b.cfg.Earlier, err, out)
	}
	return path, nil
}

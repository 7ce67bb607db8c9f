package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
)

// broker is a way to publish events and to consume them. All run the same Go code; only the SQL differs.
type broker struct {
	name    string
	script  string // environment variable that names the SQL file to install; empty: nothing is needed
	setup   []string
	publish string // $1: payload; many: $1: an array of them
	many    string
	load    string // $1: how many events, $2: payload
	poll    string // $1: at most how many; the first column is the id. $2, if it occurs: the consumer's name
	commit  string // $1: the last id, or all of them as an array if byIDs
	byIDs   bool
	ticks   []string // after each batch of events, if it hands out what lies between ticks
	tidy    string   // what its scheduler does each second
	lag     string
	one     bool // poll and commit are one transaction
}

// sluice is the outbox, by its SQL interface.
var sluice = broker{
	name:    "sluice",
	setup:   []string{"truncate events.outbox_shop_events", "select events.seek_offset('shipping', 'bench', 0)", "select events.seek_offset('shipping', 'bench', null)"},
	publish: "insert into events.outbox_shop_events (event_type, payload) values ('bench', $1::jsonb)",
	many:    "insert into events.outbox_shop_events (event_type, payload) select 'bench', p from unnest($1::jsonb[]) p",
	load:    "insert into events.outbox_shop_events (event_type, payload) select 'bench', $2::jsonb from generate_series(1, $1)",
	poll:    "select * from events.poll_outbox('shipping', $2, $1)",
	commit:  "select events.commit_offset('shipping', $2, $1)",
	tidy:    "call events.tick()",
	lag:     "select * from events.consumer_lag('shipping')",
}

// bareOutbox is a table with nothing but its key.
var bareOutbox = broker{
	name: "bare table",
	setup: []string{"create table if not exists plain.events (id bigint generated always as identity primary key, created_at timestamptz not null default now(), " +
		"event_type text not null, aggregate_id text, payload jsonb not null, headers jsonb not null default '{}')", "truncate plain.events"},
	publish: "insert into plain.events (event_type, payload) values ('bench', $1::jsonb)",
	many:    "insert into plain.events (event_type, payload) select 'bench', p from unnest($1::jsonb[]) p",
}

// skipLocked is the usual queue: rows are locked while they are worked on, and deleted then.
var skipLocked = broker{
	name: "SKIP LOCKED",
	setup: []string{"create table if not exists plain.tasks (id bigint generated always as identity primary key, created_at timestamptz not null default now(), " +
		"event_type text not null, aggregate_id text, payload jsonb not null, headers jsonb not null default '{}')", "truncate plain.tasks"},
	publish: "insert into plain.tasks (event_type, payload) values ('bench', $1::jsonb)",
	many:    "insert into plain.tasks (event_type, payload) select 'bench', p from unnest($1::jsonb[]) p",
	load:    "insert into plain.tasks (event_type, payload) select 'bench', $2::jsonb from generate_series(1, $1)",
	poll:    "select * from plain.tasks order by id limit $1 for update skip locked",
	commit:  "delete from plain.tasks where id = any($1::bigint[])",
	byIDs:   true,
	one:     true,
	lag:     "select count(*) from plain.tasks",
}

var pgmq = broker{
	name:    "pgmq",
	script:  "PGMQ_SQL",
	setup:   []string{"select pgmq.drop_queue('bench') from pgmq.meta where queue_name = 'bench'", "select pgmq.create('bench')"},
	publish: "select pgmq.send('bench', $1::jsonb)",
	many:    "select pgmq.send_batch('bench', $1::jsonb[])",
	load:    "select count(*) from pgmq.send_batch('bench', array_fill($2::jsonb, array[$1::integer]))",
	poll:    "select * from pgmq.read('bench', 30, $1)",
	commit:  "select pgmq.delete('bench', $1::bigint[])",
	byIDs:   true,
	lag:     "select * from pgmq.metrics('bench')",
}

// pgq is Debian's postgresql-15-pgq3; pgque the same engine in plpgsql.
var pgq = pgqLike("pgq", "PgQ", "create extension if not exists pgq", "")

var pgque = pgqLike("pgque", "PgQue", "", "PGQUE_SQL")

func pgqLike(schema, name, extension, script string) broker {
	in := func(sql string) string { return strings.ReplaceAll(sql, "Q.", schema+".") }
	b := broker{
		name: name, script: script,
		setup: []string{
			in("select Q.unregister_consumer('bench', 'bench') from Q.get_consumer_info('bench', 'bench')"),
			in("select Q.drop_queue('bench') from Q.get_queue_info('bench')"),
			in("select Q.create_queue('bench')"), in("select Q.register_consumer('bench', 'bench')"), in("select Q.ticker()"),
		},
		publish: in("select Q.insert_event('bench', 'bench', $1::text)"),
		many:    in("select Q.insert_event('bench', 'bench', p) from unnest($1::text[]) p"),
		load:    in("select count(Q.insert_event('bench', 'bench', $2::text)) from generate_series(1, $1)"),
		ticks:   []string{in("select Q.force_tick('bench')"), in("select Q.ticker('bench')")},
	}
	if extension != "" {
		b.setup = append([]string{extension}, b.setup...)
	}
	return b
}

// available returns those of the brokers that can be installed here, and says which are left out.
func (b *bench) available(ctx context.Context, brokers ...broker) ([]broker, error) {
	var found []broker
	for _, x := range brokers {
		err := b.installBroker(ctx, x)
		if err != nil && x.script == "" && x.name != pgq.name {
			return nil, err
		}
		if err != nil {
			fmt.Fprintf(b.log, "    without %s: %v\n", x.name, err)
			continue
		}
		found = append(found, x)
	}
	return found, nil
}

// installBroker installs what a broker needs, once.
func (b *bench) installBroker(ctx context.Context, x broker) error {
	if b.made[x.name] {
		return nil
	}
	err := connected(ctx, b.dsn(), func(conn *pgx.Conn) error {
		switch {
		case x.name == sluice.name:
			extension, err := commandtest.Sample("events")
			if err != nil {
				return err
			}
			_, err = commandtest.Apply(ctx, conn, extension, commandtest.ApplyOptions{})
			return err
		case x.script != "":
			path := os.Getenv(x.script)
			if path == "" {
				return fmt.Errorf("%s names no SQL file", x.script)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			_, err = conn.PgConn().Exec(ctx, string(text)).ReadAll()
			return err
		case x.name == pgq.name:
			return execute(ctx, conn, x.setup[0])
		}
		return nil
	})
	if err == nil {
		b.made[x.name] = true
	}
	return err
}

// empty lets a broker start from nothing.
func (b *bench) empty(ctx context.Context, x broker) error {
	return connected(ctx, b.dsn(), func(conn *pgx.Conn) error { return execute(ctx, conn, x.setup...) })
}

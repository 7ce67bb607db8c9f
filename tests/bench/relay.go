package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/pgsluice/sluice/cmd/commandtest"
)

const (
	relaySection = "relay"
	relayBacklog = 200_000
	relayBatch   = 1000
	relayRate    = 1000 // events a second, of which the time to a subscriber is taken
	relaySeconds = 8
)

const relaySpec = `version: 1
extension: {name: bench_relay, version: 1.0.0, schema: relay}
outboxes: [{name: events, notify: true}]
inboxes: [{name: bench}]
`

func relayCases() []benchCase {
	cases := []benchCase{
		{relaySection, "to nothing", func(ctx context.Context, b *bench) ([]row, error) { return b.relayDrains(ctx) }},
		{relaySection, "claim checks", func(ctx context.Context, b *bench) ([]row, error) { return b.relayClaims(ctx) }},
		{relaySection, "to NATS", func(ctx context.Context, b *bench) ([]row, error) { return b.relayToNATS(ctx) }},
	}
	for _, kind := range []string{"Redis", "RabbitMQ", "Kafka", "an inbox"} {
		cases = append(cases, benchCase{relaySection, "to " + kind, func(ctx context.Context, b *bench) ([]row, error) { return b.relayPeers(ctx, kind) }})
	}
	return cases
}

// relayStage is a server that decodes its log, a database with an outbox, and a NATS server in this process, whose streams are in memory.
type relayStage struct {
	b    *bench
	dsn  string
	nats *natsserver.Server
	dir  string
}

func (b *bench) relayStage(ctx context.Context) (*relayStage, error) {
	server, err := commandtest.Start(ctx, commandtest.ServerOptions{Install: b.server.Install, Durable: true, Settings: map[string]string{
		"wal_level": "logical", "shared_buffers": "256MB", "max_wal_size": "4GB"}})
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "sluice-bench-relay-")
	if err != nil {
		return nil, err
	}
	s := &relayStage{b: b, dsn: server.DSN("postgres"), dir: dir}
	extension, err := extensionOf(map[string]string{"spec.yaml": relaySpec})
	if err != nil {
		return nil, err
	}
	err = connected(ctx, s.dsn, func(conn *pgx.Conn) error {
		if _, err := commandtest.Apply(ctx, conn, extension, commandtest.ApplyOptions{}); err != nil {
			return err
		}
		return execute(ctx, conn, "create table published_way (last_id bigint not null)", "insert into published_way values (0)")
	})
	if err != nil {
		return nil, err
	}
	s.nats, err = natsserver.NewServer(&natsserver.Options{Host: "127.0.0.1", Port: natsserver.RANDOM_PORT, JetStream: true, StoreDir: dir, NoSigs: true, NoLog: true})
	if err != nil {
		return nil, err
	}
	go s.nats.Start()
	if !s.nats.ReadyForConnections(10 * time.Second) {
		return nil, fmt.Errorf("the NATS server does not start")
	}
	return s, nil
}

func (s *relayStage) close() {
	s.nats.Shutdown()
	_ = os.RemoveAll(s.dir)
}

// refill has a backlog that only its group and readers of the log have not seen.
func (s *relayStage) refill(ctx context.Context, events int) error {
	return connected(ctx, s.dsn, func(conn *pgx.Conn) error {
		return execute(ctx, conn,
			"select relay.drop_consumer_group('g', p_if_exists => true)", "truncate relay.outbox_events restart identity", "update published_way set last_id = 0",
			"select pg_drop_replication_slot(slot_name) from pg_replication_slots", "select relay.create_consumer_group('g', 'events', 'latest')",
			"select pg_create_logical_replication_slot('way', 'pgoutput')",
			fmt.Sprintf(`insert into relay.outbox_events (event_type, aggregate_id, payload)
				select 'order.placed', 'k' || i %% 1000, jsonb_build_object('n', i, 'pad', repeat('x', 170)) from generate_series(1, %d) i`, events),
			"vacuum analyze relay.outbox_events", "checkpoint")
	})
}

// run has the relay move all that is there, and returns events a second, and the most memory that it had in MB.
func (s *relayStage) run(ctx context.Context, to string, events int) (rate, memory float64, err error) {
	if err := s.refill(ctx, events); err != nil {
		return 0, 0, err
	}
	return s.drain(ctx, "relay", events, func() (*exec.Cmd, error) { return s.start(ctx, "relay", "events", to, relayBatch) })
}

// drain is run of an outbox that is filled, by what start starts.
func (s *relayStage) drain(ctx context.Context, schema string, events int, start func() (*exec.Cmd, error)) (rate, memory float64, err error) {
	r, err := start()
	if err != nil {
		return 0, 0, err
	}
	var began time.Time // when some were gone: the start of a process is not what is measured
	err = connected(ctx, s.dsn, func(conn *pgx.Conn) error {
		for lag := 1; lag > 0; time.Sleep(20 * time.Millisecond) {
			if err := conn.QueryRow(ctx, "select lag_rows from "+schema+".pgt_consumer_group_lag where group_name = 'g'").Scan(&lag); err != nil {
				return err
			}
			if began.IsZero() && lag < events {
				began, events = time.Now(), lag
			}
		}
		return nil
	})
	rate = float64(events) / time.Since(began).Seconds()
	memory = peakMemory(r.Process.Pid)
	return rate, memory, stopRelay(r, err)
}

// start starts the relay; a batch of 0 is its own.
func (s *relayStage) start(ctx context.Context, schema, outbox, to string, batch int) (*exec.Cmd, error) {
	path := filepath.Join(s.dir, "relay.yaml")
	text := fmt.Sprintf("version: 1\ndatabase: %q\nschema: %s\npipelines:\n  - name: bench\n    from: {outbox: {name: %s, group: g}}\n    to: {%s}\n", s.dsn, schema, outbox, to)
	if batch > 0 {
		text += fmt.Sprintf("    batch: %d\n", batch)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return nil, err
	}
	r := exec.CommandContext(ctx, os.Args[0], asRelay, "-c", path, "--log-level", "warn")
	r.Stderr = os.Stderr
	return r, r.Start()
}

func stopRelay(r *exec.Cmd, before error) error {
	_ = r.Process.Signal(syscall.SIGTERM)
	if err := r.Wait(); before == nil {
		return err
	}
	return before
}

// peakMemory is the most resident memory of a process in MB.
func peakMemory(pid int) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(text) {
		if value, ok := strings.CutPrefix(string(line), "VmHWM:"); ok {
			kilobytes, _ := strconv.ParseFloat(strings.Fields(value)[0], 64)
			return kilobytes / 1024
		}
	}
	return 0
}

// relayDrains compares the relay with readers that only read: by the last id, as pg_tide's relay does, and by decoding the log, as Debezium does.
func (b *bench) relayDrains(ctx context.Context) ([]row, error) {
	s, err := b.relayStage(ctx)
	if err != nil {
		return nil, err
	}
	defer s.close()
	var ours, byID, byLog, small, large []float64
	for range b.cfg.Rounds {
		rate, memory, err := s.run(ctx, "discard: ", relayBacklog)
		if err != nil {
			return nil, err
		}
		ours, small = append(ours, rate), append(small, memory)
		for _, peer := range []struct {
			read  func(ctx context.Context, conn *pgx.Conn) (int, error)
			rates *[]float64
		}{{afterLastID, &byID}, {decoded, &byLog}} {
			rate, err := s.readAll(ctx, peer.read)
			if err != nil {
				return nil, err
			}
			*peer.rates = append(*peer.rates, rate)
		}
	}
	if _, memory, err := s.run(ctx, "discard: ", 5*relayBacklog); err == nil {
		large = append(large, memory)
	} else {
		return nil, err
	}
	rows := make([]row, 2)
	for i, peer := range []struct {
		name  string
		rates []float64
	}{{"rows after the last id", byID}, {"logical decoding", byLog}} {
		rows[i] = row{Case: "to nothing, against " + peer.name, Unit: "events/s"}
		rows[i].goal(goal{">= 50,000 events/s", func(r row) bool { return r.Ours.Median >= 50_000 }})
		rows[i].compare(ours, peer.rates)
	}
	flat := row{Case: fmt.Sprintf("memory over %s events, against %s", thousands(5*relayBacklog), thousands(relayBacklog)), Unit: "MB"}
	flat.Ours, flat.Baseline = spreadOf(large), spreadOf(small)
	return append(rows, flat), nil
}

// readAll reads the same backlog until nothing comes.
func (s *relayStage) readAll(ctx context.Context, read func(ctx context.Context, conn *pgx.Conn) (int, error)) (rate float64, err error) {
	if err := s.refill(ctx, relayBacklog); err != nil {
		return 0, err
	}
	err = connected(ctx, s.dsn, func(conn *pgx.Conn) error {
		began, all := time.Now(), 0
		for all < relayBacklog {
			n, err := read(ctx, conn)
			if err != nil {
				return err
			}
			all += n
		}
		rate = float64(all) / time.Since(began).Seconds()
		return nil
	})
	return rate, err
}

// afterLastID reads rows above an id, and stores the last. It loses rows that commit late with a lower one.
func afterLastID(ctx context.Context, conn *pgx.Conn) (n int, err error) {
	rows, err := conn.Query(ctx, "select id, event_type, aggregate_id, payload::text, headers::text from relay.outbox_events where id > (select last_id from published_way) order by id limit $1", relayBatch)
	if err != nil {
		return 0, err
	}
	var id int64
	var kind, key, payload, headers string
	_, err = pgx.ForEachRow(rows, []any{&id, &kind, &key, &payload, &headers}, func() error { n++; return nil })
	if err == nil && n > 0 {
		_, err = conn.Exec(ctx, "update published_way set last_id = $1", id)
	}
	return n, err
}

// decoded reads inserts from the log by a slot.
func decoded(ctx context.Context, conn *pgx.Conn) (n int, err error) {
	rows, err := conn.Query(ctx, "select data from pg_logical_slot_get_binary_changes('way', null, $1, 'proto_version', '1', 'publication_names', 'bench_relay_outbox_events')", relayBatch)
	if err != nil {
		return 0, err
	}
	var data []byte
	_, err = pgx.ForEachRow(rows, []any{&data}, func() error {
		if len(data) > 0 && data[0] == 'I' {
			n++
		}
		return nil
	})
	return n, err
}

// relayToNATS measures the rate into a stream, and how old events are when a subscriber has them.
func (b *bench) relayToNATS(ctx context.Context) ([]row, error) {
	s, err := b.relayStage(ctx)
	if err != nil {
		return nil, err
	}
	defer s.close()
	conn, err := nats.Connect(s.nats.ClientURL())
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, err
	}
	var rates, ages []float64
	for range b.cfg.Rounds {
		if _, err := js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{Name: "bench", Subjects: []string{"bench.>"}, Storage: jetstream.MemoryStorage}); err != nil {
			return nil, err
		}
		to := fmt.Sprintf("nats: {url: '%s', subject: 'bench.{{ .Type }}'}", s.nats.ClientURL())
		rate, _, err := s.run(ctx, to, relayBacklog)
		if err != nil {
			return nil, err
		}
		rates = append(rates, rate)
		took, err := s.ages(ctx, conn, to)
		if err != nil {
			return nil, err
		}
		ages = append(ages, took...)
		if err := js.DeleteStream(ctx, "bench"); err != nil {
			return nil, err
		}
	}
	rate := row{Case: "to NATS", Unit: "events/s", Ours: spreadOf(rates)}
	rate.goal(goal{">= 30,000 events/s", func(r row) bool { return r.Ours.Median >= 30_000 }})
	age := row{Case: fmt.Sprintf("publisher to subscriber of NATS at %s events/s", thousands(relayRate)), Unit: "ms", Ours: spreadOf(ages)}
	age.goal(below(20))
	return []row{rate, age}, nil
}

// ages publishes events at a steady rate and returns how old each is, in milliseconds, when a subscriber gets it.
func (s *relayStage) ages(ctx context.Context, conn *nats.Conn, to string) (ages []float64, err error) {
	if err := s.refill(ctx, 1); err != nil {
		return nil, err
	}
	r, err := s.start(ctx, "relay", "events", to, relayBatch)
	if err != nil {
		return nil, err
	}
	defer func() { err = stopRelay(r, err) }()
	var mu sync.Mutex
	subscription, err := conn.Subscribe("bench.timed", func(m *nats.Msg) {
		at, err := strconv.ParseInt(string(bytes.Trim(m.Data, "{}\" atn:")), 10, 64)
		if err == nil {
			mu.Lock()
			ages = append(ages, float64(time.Now().UnixMicro()-at)/1000)
			mu.Unlock()
		}
	})
	if err != nil {
		return nil, err
	}
	defer func() { _ = subscription.Unsubscribe() }()
	err = connected(ctx, s.dsn, func(db *pgx.Conn) error {
		time.Sleep(time.Second) // it has started
		began := time.Now()
		for n := range relayRate * relaySeconds {
			if wait := time.Until(began.Add(time.Duration(n) * time.Second / relayRate)); wait > 0 {
				time.Sleep(wait)
			}
			if _, err := db.Exec(ctx, `select relay.outbox_publish('events', 'timed', jsonb_build_object('at', (extract(epoch from clock_timestamp()) * 1000000)::bigint))`); err != nil {
				return err
			}
		}
		time.Sleep(time.Second)
		return nil
	})
	mu.Lock()
	defer mu.Unlock()
	return append([]float64(nil), ages...), err
}

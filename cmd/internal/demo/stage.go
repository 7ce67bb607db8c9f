package demo

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/pgsluice/sluice/cmd/internal/live"
	"github.com/pgsluice/sluice/cmd/internal/sandbox"
	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/specs"
)

// tickEvery is how often the demo's scheduler ticks.
const tickEvery = 250 * time.Millisecond

//go:embed schema.sql
var ledgerSQL string

// stage is the server with the shop on it.
type stage struct {
	server     *sandbox.Server
	dsn        string
	extension  *generator.Extension // the shop's inboxes
	sales      *generator.Extension // stream tables over the shop's own tables
	events     *generator.Extension // the outbox of what happens in the shop
	maxRetries map[string]int       // by inbox
}

// build starts a server and installs the shop. The caller ends it with sandbox.Cleanup.
func build(ctx context.Context, show display) (*stage, error) {
	s := &stage{}
	var err error
	if s.sales, err = Sample("sales"); err != nil {
		return nil, err
	}
	if s.events, err = Sample("events"); err != nil {
		return nil, err
	}
	if s.extension, err = Sample("shop"); err != nil {
		return nil, err
	}
	if s.server, err = startServer(ctx, show); err != nil {
		return nil, NoServer{err}
	}
	s.dsn = s.server.DSN("shop")
	for _, e := range s.extensions() {
		show.note("installing extension %s %s", e.Name, e.Version)
	}
	return s, s.install(ctx)
}

func (s *stage) extensions() []*generator.Extension {
	return []*generator.Extension{s.extension, s.sales, s.events}
}

func startServer(ctx context.Context, show display) (*sandbox.Server, error) {
	install, err := sandbox.Finder{Progress: show}.Find(ctx, "")
	if err != nil {
		return nil, err
	}
	show.note("starting a throw-away PostgreSQL %s", install.Version)
	return sandbox.Start(ctx, sandbox.Options{Install: install, Durable: true})
}

// Sample compiles an embedded spec. Specs are read from files, so it goes through a directory for a moment.
func Sample(name string) (*generator.Extension, error) {
	dir, err := os.MkdirTemp("", "sluice-demo-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := os.CopyFS(dir, specs.Samples); err != nil {
		return nil, err
	}
	loaded, problems := spec.Load(filepath.Join(dir, name))
	if !problems.Empty() {
		return nil, errors.New(problems.String())
	}
	extension, problems := generator.Generate(loaded[0])
	if !problems.Empty() {
		return nil, errors.New(problems.String())
	}
	return extension, nil
}

// install makes the database, the shop's own tables, the extension and the ledger.
func (s *stage) install(ctx context.Context) error {
	err := withConn(ctx, s.server.DSN("postgres"), "demo", func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, `create database shop`)
		return err
	})
	if err != nil {
		return err
	}
	tables, err := specs.Samples.ReadFile("shop/schema.sql")
	if err != nil {
		return err
	}
	return withConn(ctx, s.dsn, "demo", func(conn *pgx.Conn) error {
		if _, err := conn.PgConn().Exec(ctx, string(tables)+ledgerSQL).ReadAll(); err != nil {
			return err
		}
		for _, e := range s.extensions() {
			if _, err := live.Apply(ctx, conn, e, live.Options{}); err != nil {
				return err
			}
		}
		return s.readLimits(ctx, conn)
	})
}

func (s *stage) readLimits(ctx context.Context, conn *pgx.Conn) error {
	s.maxRetries = map[string]int{}
	var inbox string
	var limit int
	rows, err := conn.Query(ctx, `select inbox_name, max_retries from pgtrickle.pgt_inbox_config`)
	if err != nil {
		return err
	}
	_, err = pgx.ForEachRow(rows, []any{&inbox, &limit}, func() error {
		s.maxRetries[inbox] = limit
		return nil
	})
	return err
}

// complaints is what the scheduler has to say; it says nothing as long as all is well.
type complaints struct {
	mu    sync.Mutex
	lines []string
}

func (c *complaints) log(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines = append(c.lines, fmt.Sprintf(format, args...))
}

func (c *complaints) all() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.lines...)
}

// schedule does the background work until stop is called.
func (s *stage) schedule(ctx context.Context, heard *complaints) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var group errgroup.Group
	for _, e := range s.extensions() {
		group.Go(func() error {
			scheduler := live.Scheduler{DSN: s.dsn, Schema: e.Schema, Every: tickEvery, Log: func(_ slog.Level, message string) { heard.log("%s", message) }}
			return scheduler.Run(ctx)
		})
	}
	return func() {
		cancel()
		if err := group.Wait(); err != nil {
			heard.log("%v", err)
		}
	}
}

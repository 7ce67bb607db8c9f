package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/cmd/commandtest/relaytest"
)

// How many objects one spec has.
const (
	manyInboxes      = 500
	manyStreamTables = 200
)

// asCommand is the first argument with which the benchmark is the sluice command, so that the memory of one run can be measured.
const asCommand = "sluice"

// asRelay is the one with which it is sluice-relay.
const asRelay = "sluice-relay"

func scaleCases() []benchCase {
	return []benchCase{
		{scaleSection, fmt.Sprintf("%d-inboxes", manyInboxes), func(ctx context.Context, b *bench) ([]row, error) { return b.generateMany(ctx) }},
		{scaleSection, fmt.Sprintf("%d-stream-tables", manyStreamTables), func(ctx context.Context, b *bench) ([]row, error) { return b.runMany(ctx) }},
	}
}

// generateMany measures a run of sluice generate over many inboxes: time, memory, and lines of the script that installs them.
func (b *bench) generateMany(ctx context.Context) ([]row, error) {
	dir, err := os.MkdirTemp("", "sluice-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var spec strings.Builder
	spec.WriteString("version: 1\nextension: {name: many, version: 1.0.0}\ninboxes:\n")
	for n := range manyInboxes {
		fmt.Fprintf(&spec, "  - name: inbox_%d\n", n)
	}
	if err := writeFiles(dir, map[string]string{"spec.yaml": spec.String()}); err != nil {
		return nil, err
	}
	var seconds, megabytes []float64
	for range b.cfg.Rounds {
		start := time.Now()
		command := exec.CommandContext(ctx, os.Args[0], asCommand, "generate", "-f", dir, "-o", filepath.Join(dir, "out"))
		if out, err := command.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("sluice generate: %w\n%s", err, out)
		}
		seconds = append(seconds, time.Since(start).Seconds())
		megabytes = append(megabytes, float64(command.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)/1024)
	}
	lines := 0.0
	paths, err := filepath.Glob(filepath.Join(dir, "out/many/*/*.sql"))
	for _, path := range paths {
		text, readErr := os.ReadFile(path)
		err = errors.Join(err, readErr)
		lines += float64(strings.Count(string(text), "\n"))
	}
	if err != nil {
		return nil, err
	}
	return []row{
		scaleRow("generate", "s", seconds, 5), scaleRow("generate, memory", "MB", megabytes, 300), scaleRow("files", "lines", []float64{lines}, 350_000),
	}, nil
}

func scaleRow(name, unit string, figures []float64, most float64) row {
	x := row{Case: name, Unit: unit, Ours: spreadOf(figures)}
	x.goal(goal{fmt.Sprintf("<= %g %s", most, unit), func(r row) bool { return r.Ours.Median <= most }})
	return x
}

// runMany measures installing many stream tables over small tables, and ticks in which all of them are due: the first of a session, and a later one, since
// the scheduler's session stays.
func (b *bench) runMany(ctx context.Context) ([]row, error) {
	const database = "views_many"
	err := connected(ctx, b.server.DSN("postgres"), func(conn *pgx.Conn) error {
		return execute(ctx, conn, "create database "+database+" template template0")
	})
	if err != nil {
		return nil, err
	}
	extension, err := streamTables("differential", variants(manyStreamTables)...)
	if err != nil {
		return nil, err
	}
	dsn := b.server.DSN(database, "synchronous_commit=off")
	var apply []float64
	err = connected(ctx, dsn, func(conn *pgx.Conn) error {
		if _, err := conn.PgConn().Exec(ctx, viewsDDL).ReadAll(); err != nil {
			return err
		}
		if err := execute(ctx, conn, insertSales("1", "10000"), "vacuum analyze"); err != nil {
			return err
		}
		start := time.Now()
		_, err := commandtest.Apply(ctx, conn, extension, commandtest.ApplyOptions{})
		apply = []float64{time.Since(start).Seconds()}
		return err
	})
	if err != nil {
		return nil, err
	}
	var idle, changed []float64
	for n := range 2 * b.cfg.Rounds {
		if err := connected(ctx, dsn, func(conn *pgx.Conn) error {
			took, err := timedTick(ctx, conn)
			idle = append(idle, took)
			for insert := range 2 { // the first plans the statements
				if err == nil {
					id := fmt.Sprint(10_001 + 2*n + insert)
					err = execute(ctx, conn, insertSales(id, id))
				}
				if err == nil {
					took, err = timedTick(ctx, conn)
				}
			}
			changed = append(changed, took)
			return err
		}); err != nil {
			return nil, err
		}
	}
	return []row{
		scaleRow("apply", "s", apply, 8), scaleRow("tick in a new session, nothing changed", "s", idle, 0.2),
		scaleRow("tick, one row changed", "s", changed, 0.2),
	}, nil
}

// timedTick returns the seconds that a tick takes when every stream table is due.
func timedTick(ctx context.Context, conn *pgx.Conn) (seconds float64, err error) {
	time.Sleep(1100 * time.Millisecond) // the schedule is a second
	start := time.Now()
	err = execute(ctx, conn, "call sl.tick()")
	return time.Since(start).Seconds(), err
}

// runAsCommand ends the process as sluice, as sluice-relay, or as a relay that was written by hand, if the arguments ask for it.
func runAsCommand() {
	if len(os.Args) > 1 && os.Args[1] == asRelay {
		os.Exit(relaytest.Main(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
	if len(os.Args) > 1 && os.Args[1] == asCommand {
		os.Exit(commandtest.Main(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
	if len(os.Args) == 5 && os.Args[1] == asPeer {
		if err := peer(os.Args[2], os.Args[3], os.Args[4]); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

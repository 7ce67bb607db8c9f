package demo

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/pgsluice/sluice/cmd/internal/sandbox"
)

// Options say what a run is like.
type Options struct {
	Events  int
	Writers int
	Workers int
	Seed    uint64
	Keep    bool      // leave the server running until the context ends
	JSON    bool      // the report for machines
	Out     io.Writer // for the report
	Talk    io.Writer // for progress
}

// NoServer is the reason why there is no server.
type NoServer struct{ Err error }

func (e NoServer) Error() string { return "no server: " + e.Err.Error() }
func (e NoServer) Unwrap() error { return e.Err }

// Run drives the demo and writes its report. Nothing of it is left behind, however it ends. The error is NoServer,
// CheckFailed, that of the context, or what the server refused.
func Run(ctx context.Context, o Options) error {
	defer sandbox.Cleanup()
	show := newDisplay(o.Talk)
	defer show.close()
	show.note("seed %d", o.Seed)
	plan, err := NewPlan(o.Seed, o.Events)
	if err != nil {
		return err
	}
	stage, err := build(ctx, show)
	if err != nil {
		return orInterrupt(ctx, err)
	}
	heard := &complaints{}
	stop := stage.schedule(ctx, heard)
	defer stop()
	report, err := stage.perform(ctx, o, plan, heard, show)
	if err != nil {
		return orInterrupt(ctx, err)
	}
	if err := publish(o, report); err != nil {
		return err
	}
	if o.Keep {
		show.note("\nThe server runs until you interrupt this:\n  psql %q", stage.dsn)
		<-ctx.Done()
	}
	return report.Err()
}

// orInterrupt prefers the interrupt over the errors that it causes.
func orInterrupt(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// perform runs the traffic and judges it.
func (s *stage) perform(ctx context.Context, o Options, plan *Plan, heard *complaints, show display) (*Report, error) {
	began := time.Now()
	run, err := s.traffic(ctx, o, plan, show)
	if err != nil {
		return nil, err
	}
	took := time.Since(began)
	show.close()
	var seen Observation
	err = withConn(ctx, s.dsn, "observer", func(conn *pgx.Conn) (err error) {
		seen, err = observe(ctx, conn, plan.late())
		return err
	})
	if err != nil {
		return nil, err
	}
	facts := Facts{
		Plan: plan, MaxRetries: s.maxRetries, Tally: run.tallies.Total(), Losses: run.losses, ConsumerLosses: run.consumerLosses,
		Looks: run.looks, WrongLooks: run.wrong, Complaints: heard.all(), Observation: seen,
	}
	report := newReport(o, facts, run.tallies, took)
	report.Postgres = s.server.Version
	return report, nil
}

// traces are what writers, workers and the watcher remember of a run.
type traces struct {
	tallies      Tallies
	losses       []Loss
	looks, wrong int

	consumerLosses []Loss
}

// traffic lets writers, workers and a watcher loose, and returns when nothing is left to do.
func (s *stage) traffic(ctx context.Context, o Options, plan *Plan, show display) (traces, error) {
	show.note("%d writers send %d events in %d deliveries, %d workers process them", o.Writers, len(plan.Events), plan.Deliveries, o.Workers)
	sent, done := make(chan struct{}), make(chan struct{})
	workers := &crew{dsn: s.dsn, plan: plan, crashes: newCrashes(len(plan.good())), done: done, note: show.note}
	consumers := newConsumers(s.dsn, len(plan.good()), done, show.note)
	look := &watcher{total: len(plan.Events), sent: sent, show: show}
	var tallies Tallies
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		defer close(sent)
		tallies, err = feed(ctx, s.dsn, plan.Sends, o.Writers)
		return err
	})
	group.Go(func() error { return workers.work(ctx, o.Workers) })
	group.Go(func() error { return consumers.work(ctx) })
	group.Go(func() error {
		defer close(done)
		return withConn(ctx, s.dsn, "watcher", func(conn *pgx.Conn) error { return look.run(ctx, conn) })
	})
	err := group.Wait()
	return traces{tallies, workers.losses, look.looks, look.wrong, consumers.losses}, err
}

func newReport(o Options, f Facts, tallies Tallies, took time.Duration) *Report {
	total := f.Types[allTypes]
	r := &Report{
		Seed: o.Seed, Events: len(f.Plan.Events), OutOfOrder: f.Plan.OutOfOrder, Delayed: f.Plan.Delayed,
		Writers: o.Writers, Workers: o.Workers,
		Seconds: took.Seconds(), Throughput: float64(total.Processed) / took.Seconds(),
		Total: TypeRow{"", f.Tally, total}, Outbox: f.outbox(), Consumers: consumersOfGroup,
		Losses: f.Losses, ConsumerLosses: f.ConsumerLosses, Checks: Verify(f),
	}
	for _, kind := range eventTypes {
		r.Types = append(r.Types, TypeRow{kind, tallies[kind], f.Types[kind]})
	}
	return r
}

func publish(o Options, r *Report) error {
	if o.JSON {
		return r.WriteJSON(o.Out)
	}
	if err := r.WriteText(o.Out); err != nil {
		return err
	}
	_, err := fmt.Fprint(o.Out, next)
	return err
}

// next is what to try after the demo.
const next = `
Next: sluice init             a spec of your own, in specs/app
      sluice generate         its artifacts, in out/
      sluice apply --dsn URL  the same in your database
`

// Package metrics collects how extensions are doing, for Prometheus.
package metrics

import (
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/pgsluice/sluice/cmd/internal/metrics/endpoint"
)

// Extensions are those that a process ticks. The zero value has none.
type Extensions struct {
	all []*Status

	ticks, failed *prometheus.CounterVec
	took          *prometheus.HistogramVec
}

// Add adds the extension of a schema. The result is to be told of each tick.
func (e *Extensions) Add(dsn, extension, schema string) func(took time.Duration, err error) {
	if e.ticks == nil {
		by := []string{"extension"}
		e.ticks = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "sluice_ticks_total", Help: "Calls of tick()."}, by)
		e.failed = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "sluice_tick_errors_total", Help: "Calls of tick() that failed."}, by)
		e.took = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "sluice_tick_seconds", Help: "Time of a tick.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 18)}, by)
	}
	e.all = append(e.all, NewStatus(dsn, extension, schema))
	ticks, failed, took := e.ticks.WithLabelValues(extension), e.failed.WithLabelValues(extension), e.took.WithLabelValues(extension)
	return func(d time.Duration, err error) {
		ticks.Inc()
		took.Observe(d.Seconds())
		if err != nil {
			failed.Inc()
		}
	}
}

// Serve serves them: see endpoint.Serve. They are ready while their status can be read.
func (e *Extensions) Serve(address string, log *slog.Logger) (stop func(), err error) {
	registry := endpoint.NewRegistry()
	registry.MustRegister(e.ticks, e.failed, e.took)
	for _, s := range e.all {
		registry.MustRegister(s)
	}
	return endpoint.Serve(address, registry, e.problems, log)
}

// problems are why the status of extensions cannot be read, by their names.
func (e *Extensions) problems() map[string]string {
	all := map[string]string{}
	for _, s := range e.all {
		if problem := s.Problem(); problem != "" {
			all[s.extension] = problem
		}
	}
	return all
}

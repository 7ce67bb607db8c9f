package relay

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/pgsluice/sluice/cmd/internal/metrics/endpoint"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

// meter holds the metrics of a process, each by the pipeline's name.
type meter struct {
	registry   *prometheus.Registry
	events     *prometheus.CounterVec
	duplicates *prometheus.CounterVec
	retries    *prometheus.CounterVec
	progress   *prometheus.GaugeVec
	working    *prometheus.GaugeVec
	circuit    *prometheus.GaugeVec
	batch      *prometheus.HistogramVec
	age        *prometheus.HistogramVec

	mu        sync.Mutex
	pipelines map[string]*stats
}

func newMeter() *meter {
	by := []string{"pipeline"}
	m := &meter{
		registry:   endpoint.NewRegistry(),
		events:     prometheus.NewCounterVec(prometheus.CounterOpts{Name: "sluice_relay_events_total", Help: "Events by outcome: delivered, rejected (dead letters), or left (given back)."}, []string{"pipeline", "outcome"}),
		duplicates: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "sluice_relay_duplicates_total", Help: "Events that the inbox had before."}, by),
		retries:    prometheus.NewCounterVec(prometheus.CounterOpts{Name: "sluice_relay_retries_total", Help: "Events that were sent again."}, by),
		progress:   prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "sluice_relay_events_in_progress", Help: "Events that were received and not settled."}, by),
		circuit:    prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "sluice_relay_circuit", Help: "1 for the state of the circuit breaker of the sink: closed (it takes events), open (it takes none), or half-open (one event is sent to find out)."}, []string{"pipeline", "state"}),
		working:    prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "sluice_relay_up", Help: "1 if all workers of the pipeline reach both ends."}, by),
		batch: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "sluice_relay_batch_seconds", Help: "Time to deliver a batch.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 16)}, by),
		age: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "sluice_relay_event_age_seconds", Help: "Age of an event when it was delivered.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 24)}, by),
		pipelines: map[string]*stats{},
	}
	m.registry.MustRegister(m.events, m.duplicates, m.retries, m.progress, m.working, m.circuit, m.batch, m.age)
	return m
}

// stats are those of one pipeline.
type stats struct {
	meter   *meter
	name    string
	mu      sync.Mutex
	problem map[int]string // by worker, or of the sink
	seen    map[int]bool   // workers that reached both ends once
}

func (m *meter) pipeline(name string) *stats {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &stats{meter: m, name: name, problem: map[int]string{0: "starting"}, seen: map[int]bool{}}
	m.pipelines[name] = s
	m.working.WithLabelValues(name).Set(0)
	for _, outcome := range []string{"delivered", "rejected", "left"} {
		m.events.WithLabelValues(name, outcome)
	}
	m.duplicates.WithLabelValues(name)
	m.retries.WithLabelValues(name)
	return s
}

// forget drops the state of a pipeline that stopped. Its counters stay.
func (m *meter) forget(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.pipelines, name)
	m.working.DeleteLabelValues(name)
	m.circuit.DeletePartialMatch(prometheus.Labels{"pipeline": name})
}

// problems are those of pipelines that do not work, by their names.
func (m *meter) problems() map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := map[string]string{}
	for name, s := range m.pipelines {
		s.mu.Lock()
		for _, worker := range slices.Sorted(maps.Keys(s.problem)) {
			all[name] = s.problem[worker]
		}
		s.mu.Unlock()
	}
	return all
}

func (s *stats) up(worker int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.problem, worker)
	if len(s.problem) == 0 {
		s.meter.working.WithLabelValues(s.name).Set(1)
	}
}

func (s *stats) down(worker int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.problem[worker] = err.Error()
	s.meter.working.WithLabelValues(s.name).Set(0)
}

// ofSink is the place of what is wrong with the sink among the problems of workers.
const ofSink = -1

// circuit sets the gauge of the circuit breaker's state. The sink counts as failing, with the error given last, until the state is closed.
func (s *stats) circuit(state string, problem error) {
	for _, other := range []string{closed, open, halfOpen} {
		value := 0.0
		if other == state {
			value = 1
		}
		s.meter.circuit.WithLabelValues(s.name, other).Set(value)
	}
	switch state {
	case open:
		s.down(ofSink, fmt.Errorf("the sink takes nothing: %w", problem))
	case closed:
		s.up(ofSink)
	}
}

func (s *stats) retrying(events int) {
	s.meter.retries.WithLabelValues(s.name).Add(float64(events))
}

func (s *stats) progress(events int) { s.meter.progress.WithLabelValues(s.name).Add(float64(events)) }

func (s *stats) duplicates(events int) {
	s.meter.duplicates.WithLabelValues(s.name).Add(float64(events))
}

func (s *stats) buried(err error) {
	if err == nil {
		s.meter.events.WithLabelValues(s.name, "rejected").Inc()
	}
}

func (s *stats) delivered(events []*wire.Event, outcomes []error, took time.Duration) {
	now := time.Now()
	age := s.meter.age.WithLabelValues(s.name)
	delivered, rejected := 0, 0
	for i, err := range outcomes {
		switch {
		case err == nil:
			delivered++
			if !events[i].Time.IsZero() {
				age.Observe(now.Sub(events[i].Time).Seconds())
			}
		case wire.IsRejected(err):
			rejected++
		}
	}
	s.meter.events.WithLabelValues(s.name, "delivered").Add(float64(delivered))
	s.meter.events.WithLabelValues(s.name, "rejected").Add(float64(rejected))
	s.meter.events.WithLabelValues(s.name, "left").Add(float64(len(events) - delivered - rejected))
	s.meter.batch.WithLabelValues(s.name).Observe(took.Seconds())
}

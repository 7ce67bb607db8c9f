package metrics

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/pgsluice/sluice/cmd/internal/live"
)

const (
	readWithin = 10 * time.Second
	keptFor    = 5 * time.Second // so that several Prometheus servers read the database once
)

// Status collects how the extension of a schema is doing, as sluice status shows it.
type Status struct {
	extension string
	dsn       string
	schema    string

	mu     sync.Mutex
	status *live.Status
	err    error
	at     time.Time
}

// NewStatus returns a collector, which connects when it is asked.
func NewStatus(dsn, extension, schema string) *Status {
	return &Status{dsn: dsn, extension: extension, schema: schema}
}

// gauge describes a metric. Its first label is the extension.
func gauge(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("sluice_"+name, help, append([]string{"extension"}, labels...), nil)
}

var (
	up       = gauge("up", "1 if the status of the extension could be read.")
	problems = gauge("problems", "Problems that sluice status shows.")
	missing  = gauge("missing_objects", "Objects that status finds missing.")

	tableStaleness = gauge("stream_table_staleness_seconds", "How old the rows of a stream table are.", "stream_table")
	tableWaiting   = gauge("stream_table_waiting_rows", "Rows of change logs that a stream table has not seen.", "stream_table")
	tableErrors    = gauge("stream_table_consecutive_errors", "Refreshes of a stream table that failed in a row.", "stream_table")
	tableStatus    = gauge("stream_table_status", "1 for the status that a stream table has.", "stream_table", "status")

	inboxPending   = gauge("inbox_pending", "Messages that are to be processed.", "inbox")
	inboxDead      = gauge("inbox_dead_letters", "Messages that failed too often.", "inbox")
	inboxProcessed = gauge("inbox_processed_total", "Messages that were processed.", "inbox")
	inboxOldest    = gauge("inbox_oldest_pending_age_seconds", "Age of the oldest pending message, 0 if there is none.", "inbox")
	inboxPaused    = gauge("inbox_paused", "1 if claims hand out nothing.", "inbox")
	inboxHealth    = gauge("inbox_health", "1 for the health that an inbox has.", "inbox", "health")
	inboxSize      = gauge("inbox_bytes", "Bytes on disk.", "inbox")
	quarantined    = gauge("inbox_quarantined", "Documents that could not be read.", "inbox")

	outboxRows   = gauge("outbox_rows", "Rows of an outbox.", "outbox")
	outboxOldest = gauge("outbox_oldest_age_seconds", "Age of the oldest row, 0 if there is none.", "outbox")
	outboxSize   = gauge("outbox_bytes", "Bytes on disk.", "outbox")
	outboxFull   = gauge("outbox_storage_degraded", "1 if it takes more than outbox_storage_critical_mb.", "outbox")

	groupLag       = gauge("group_lag_rows", "Committed rows that a group has not acknowledged.", "group", "outbox")
	groupLeased    = gauge("group_leased_rows", "Rows in progress.", "group", "outbox")
	groupConsumers = gauge("group_consumers", "Consumers of a group.", "group", "outbox")
	groupHealthy   = gauge("group_healthy_consumers", "Consumers that showed a sign of life within a minute.", "group", "outbox")
	groupDead      = gauge("group_dead_letters", "Rows that were rejected or failed too often.", "group", "outbox")
	groupHeld      = gauge("group_held_seconds", "Time that a transaction has kept others from polling, 0 if there is none.", "group", "outbox")
	groupPaused    = gauge("group_paused", "1 if polls return nothing.", "group", "outbox")

	gapAge = gauge("outbox_gap_age_seconds", "Age of the oldest transaction that may still publish ids of an outbox, above which others were consumed.", "outbox")

	taskAge     = gauge("task_last_run_age_seconds", "Time since a background task ran.", "task")
	taskRuns    = gauge("task_runs_total", "Runs of a background task.", "task")
	taskFailing = gauge("task_failing", "1 if the last run of a background task failed.", "task")
)

// Describe implements prometheus.Collector: the collector is unchecked, as labels come from the database.
func (s *Status) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (s *Status) Collect(to chan<- prometheus.Metric) {
	status, err := s.read()
	c := collection{to, s.extension}
	c.yes(up, err == nil)
	if err != nil {
		return
	}
	c.gauge(problems, float64(len(status.Problems)))
	c.gauge(missing, float64(status.Missing()))
	c.tables(status.StreamTables)
	c.inboxes(status.Inboxes)
	for _, o := range status.Outboxes {
		c.gauge(outboxRows, float64(o.Rows), o.Name)
		c.gauge(outboxOldest, value(o.OldestAgeSeconds), o.Name)
		c.gauge(outboxSize, float64(o.TotalBytes), o.Name)
		c.yes(outboxFull, o.Storage != "ok", o.Name)
	}
	c.groups(status.Groups)
	c.gaps(status.Gaps)
	for _, t := range status.Tasks {
		if t.AgeSec != nil {
			c.gauge(taskAge, *t.AgeSec, t.Task)
		}
		c.counter(taskRuns, float64(t.Runs), t.Task)
		c.yes(taskFailing, t.LastError != nil, t.Task)
	}
}

// Problem is why the status could not be read, or empty.
func (s *Status) Problem() string {
	if _, err := s.read(); err != nil {
		return err.Error()
	}
	return ""
}

// read returns the status, which may be some seconds old.
func (s *Status) read() (*live.Status, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.at) < keptFor {
		return s.status, s.err
	}
	ctx, cancel := context.WithTimeout(context.Background(), readWithin)
	defer cancel()
	conn, err := live.Connect(ctx, s.dsn)
	if err == nil {
		s.status, err = live.ReadStatus(ctx, conn, s.schema)
		_ = conn.Close(ctx)
	}
	s.err, s.at = err, time.Now()
	return s.status, s.err
}

// collection sends the metrics of an extension.
type collection struct {
	to        chan<- prometheus.Metric
	extension string
}

func (c collection) send(kind prometheus.ValueType, desc *prometheus.Desc, value float64, labels ...string) {
	c.to <- prometheus.MustNewConstMetric(desc, kind, value, append([]string{c.extension}, labels...)...)
}

func (c collection) gauge(desc *prometheus.Desc, value float64, labels ...string) {
	c.send(prometheus.GaugeValue, desc, value, labels...)
}

func (c collection) counter(desc *prometheus.Desc, value float64, labels ...string) {
	c.send(prometheus.CounterValue, desc, value, labels...)
}

func (c collection) yes(desc *prometheus.Desc, is bool, labels ...string) {
	number := 0.0
	if is {
		number = 1
	}
	c.gauge(desc, number, labels...)
}

func (c collection) tables(tables []live.StreamTableStatus) {
	for _, t := range tables {
		if t.StalenessSeconds != nil {
			c.gauge(tableStaleness, *t.StalenessSeconds, t.Name)
		}
		if t.Waiting != nil {
			c.gauge(tableWaiting, float64(*t.Waiting), t.Name)
		}
		c.gauge(tableErrors, float64(t.Errors), t.Name)
		c.gauge(tableStatus, 1, t.Name, t.Status)
	}
}

func (c collection) inboxes(inboxes []live.InboxStatus) {
	for _, i := range inboxes {
		c.gauge(inboxPending, float64(i.Pending), i.Name)
		c.gauge(inboxDead, float64(i.DeadLetters), i.Name)
		c.counter(inboxProcessed, float64(i.Processed), i.Name)
		c.gauge(inboxOldest, value(i.OldestPendingAgeSeconds), i.Name)
		c.yes(inboxPaused, i.Paused, i.Name)
		c.gauge(inboxHealth, 1, i.Name, i.Health)
		c.gauge(inboxSize, float64(i.TotalBytes), i.Name)
		if i.Quarantined != nil {
			c.gauge(quarantined, float64(*i.Quarantined), i.Name)
		}
	}
}

func (c collection) groups(groups []live.GroupStatus) {
	for _, g := range groups {
		c.gauge(groupLag, float64(g.Lag), g.Name, g.Outbox)
		c.gauge(groupLeased, float64(g.Leased), g.Name, g.Outbox)
		c.gauge(groupConsumers, float64(g.Consumers), g.Name, g.Outbox)
		c.gauge(groupHealthy, float64(g.Healthy), g.Name, g.Outbox)
		c.gauge(groupDead, float64(g.DeadLetters), g.Name, g.Outbox)
		c.gauge(groupHeld, value(g.HeldSeconds), g.Name, g.Outbox)
		c.yes(groupPaused, g.Paused, g.Name, g.Outbox)
	}
}

// gaps sends the oldest of each outbox.
func (c collection) gaps(gaps []live.GapStatus) {
	oldest := map[string]float64{}
	for _, g := range gaps {
		oldest[g.Outbox] = max(oldest[g.Outbox], value(g.AgeSec))
	}
	for outbox, age := range oldest {
		c.gauge(gapAge, age, outbox)
	}
}

func value(number *float64) float64 {
	if number == nil {
		return 0
	}
	return *number
}

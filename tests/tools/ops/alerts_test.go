package ops

import (
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"

	"github.com/pgsluice/sluice/cmd/commandtest"
)

// rules are the alerts of alerts.yaml, as Prometheus reads them.
func rules(t *testing.T, files map[string]string) []rulefmt.Rule {
	t.Helper()
	groups, errs := rulefmt.Parse([]byte(files["alerts.yaml"]), false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	var all []rulefmt.Rule
	for _, g := range groups.Groups {
		all = append(all, g.Rules...)
	}
	return all
}

// TestAlerts has Prometheus read the rules.
func TestAlerts(t *testing.T) {
	served := served(t)
	eachSpec(t, func(t *testing.T, files map[string]string) {
		for _, rule := range rules(t, files) {
			checkPromQL(t, served, rule.Expr)
			if rule.Labels["severity"] == "" || rule.Annotations["summary"] == "" || rule.Annotations["description"] == "" || rule.Annotations["runbook_url"] == "" {
				t.Errorf("%s lacks a label or an annotation", rule.Alert)
			}
		}
	})
}

// raised has for each alert series that raise it, and series that do not; each with its value.
var raised = map[string]struct{ bad, good string }{
	"SluiceDown":                  {`sluice_up{X} 0`, `sluice_task_runs_total{X, task="a"} 1`},
	"SluiceBackgroundWorkStopped": {`sluice_task_last_run_age_seconds{X, task="a"} 181`, `sluice_task_last_run_age_seconds{X, task="a"} 179`},
	"SluiceTaskFailing":           {`sluice_task_failing{X, task="a"} 1`, `sluice_task_failing{X, task="stream table public.a: check"} 1`},
	"SluiceObjectsMissing":        {`sluice_missing_objects{X} 1`, `sluice_missing_objects{X} 0`},
	"SluiceStreamTableSuspended":  {`sluice_stream_table_status{X, stream_table="a", status="suspended"} 1`, `sluice_stream_table_status{X, stream_table="a", status="active"} 1`},
	"SluiceStreamTableFailing":    {`sluice_stream_table_status{X, stream_table="a", status="failing"} 1`, `sluice_stream_table_status{X, stream_table="a", status="stale"} 1`},
	"SluiceStreamTableStale":      {`sluice_stream_table_status{X, stream_table="a", status="stale"} 1`, `sluice_stream_table_status{X, stream_table="a", status="failing"} 1`},
	"SluiceStreamTableNotFilled":  {`sluice_stream_table_status{X, stream_table="a", status="initializing"} 1`, `sluice_stream_table_status{X, stream_table="a", status="active"} 1`},
	"SluiceStreamTableDiffers":    {`sluice_task_failing{X, task="stream table public.a: check"} 1`, `sluice_task_failing{X, task="stream table public.a: check"} 0`},
	"SluiceInboxDegraded":         {`sluice_inbox_health{X, inbox="a", health="degraded"} 1`, `sluice_inbox_health{X, inbox="a", health="healthy"} 1`},
	"SluiceInboxCritical":         {`sluice_inbox_health{X, inbox="a", health="critical"} 1`, `sluice_inbox_health{X, inbox="a", health="degraded"} 1`},
	"SluiceInboxPaused":           {`sluice_inbox_paused{X, inbox="a"} 1`, `sluice_inbox_paused{X, inbox="a"} 0`},
	"SluiceInboxQuarantine":       {`sluice_inbox_quarantined{X, inbox="a"} 2`, `sluice_inbox_quarantined{X, inbox="a"} 0`},
	"SluiceOutboxTooLarge":        {`sluice_outbox_storage_degraded{X, outbox="a"} 1`, `sluice_outbox_storage_degraded{X, outbox="a"} 0`},
	"SluiceOutboxGap":             {`sluice_outbox_gap_age_seconds{X, outbox="a"} 61`, `sluice_outbox_gap_age_seconds{X, outbox="a"} 59`},
	"SluiceGroupWithoutConsumers": {"sluice_group_lag_rows{X, group=\"a\", outbox=\"b\"} 5\nsluice_group_healthy_consumers{X, group=\"a\", outbox=\"b\"} 0",
		"sluice_group_lag_rows{X, group=\"a\", outbox=\"b\"} 5\nsluice_group_healthy_consumers{X, group=\"a\", outbox=\"b\"} 1"},
	"SluiceGroupHeld":        {`sluice_group_held_seconds{X, group="a", outbox="b"} 3`, `sluice_group_held_seconds{X, group="a", outbox="b"} 0`},
	"SluiceGroupPaused":      {`sluice_group_paused{X, group="a", outbox="b"} 1`, `sluice_group_paused{X, group="a", outbox="b"} 0`},
	"SluiceGroupDeadLetters": {`sluice_group_dead_letters{X, group="a", outbox="b"} 1`, `sluice_group_dead_letters{X, group="a", outbox="b"} 0`},
	"SluiceRelayDown":        {`sluice_relay_up{pipeline="a", instance="i"} 0`, `sluice_relay_up{pipeline="a", instance="i"} 1`},
	"SluiceRelayRejects":     {`sluice_relay_events_total{pipeline="a", outcome="rejected"} 0+1x30`, `sluice_relay_events_total{pipeline="a", outcome="delivered"} 0+1x30`},
}

// TestAlertsFire evaluates each alert over series of the state that it is for, and of one that it is not for.
func TestAlertsFire(t *testing.T) {
	for _, rule := range rules(t, files(t, "testdata/spec.yaml")) {
		t.Run(rule.Alert, func(t *testing.T) {
			series, there := raised[rule.Alert]
			if !there {
				t.Fatal("no series raise it")
			}
			if got := firing(t, rule.Expr, series.bad); got == 0 {
				t.Errorf("%s does not raise it", series.bad)
			}
			if rule.Alert == "SluiceDown" && firing(t, rule.Expr, `sluice_relay_up{pipeline="a"} 1`) == 0 {
				t.Error("it is not raised where nothing serves metrics")
			}
			if got := firing(t, rule.Expr, series.good); got != 0 {
				t.Errorf("%s raises it", series.good)
			}
		})
	}
}

// firing is for how many objects an expression holds after ten minutes. Two processes serve each series.
func firing(t *testing.T, expr, series string) int {
	t.Helper()
	var load strings.Builder
	load.WriteString("load 1m\n")
	for line := range strings.Lines(series) {
		line = strings.TrimSuffix(line, "\n")
		at := strings.LastIndex(line, " ")
		if !strings.Contains(line, "+") {
			line += "x30"
		}
		for _, instance := range []string{"one", "two"} {
			name := strings.Replace(line[:at], "{", fmt.Sprintf("{host=%q, job=\"j\", ", instance), 1)
			fmt.Fprintf(&load, "  %s%s\n", strings.Replace(name, "X", `extension="All_things"`, 1), line[at:])
		}
	}
	vector := evaluate(t, expr, load.String())
	if len(vector) > 1 && !strings.HasPrefix(expr, "sluice_relay_up") {
		t.Errorf("two processes raise it twice: %v", vector)
	}
	return len(vector)
}

// evaluate is what an expression gives after ten minutes of series.
func evaluate(t *testing.T, expr, load string) promql.Vector {
	t.Helper()
	storage := promqltest.LoadedStorage(t, load)
	defer storage.Close()
	engine := promqltest.NewTestEngine(t, false, 0, promqltest.DefaultMaxSamplesPerQuery)
	query, err := engine.NewInstantQuery(t.Context(), storage, nil, expr, time.Unix(600, 0))
	if err != nil {
		t.Fatal(err)
	}
	vector, err := query.Exec(t.Context()).Vector()
	if err != nil {
		t.Fatal(err)
	}
	return vector
}

// states are those of stream tables that sluice status tells apart.
var states = regexp.MustCompile(`(?m)^\tcase "([a-z]+)":`)

// TestStatesHaveAlerts holds that an alert exists for each status of a stream table that is a problem.
func TestStatesHaveAlerts(t *testing.T) {
	code, err := os.ReadFile("../../../cmd/internal/live/problem.go")
	if err != nil {
		t.Fatal(err)
	}
	var exprs strings.Builder
	for _, rule := range rules(t, files(t, "testdata/spec.yaml")) {
		exprs.WriteString(rule.Expr + "\n")
	}
	found := states.FindAllStringSubmatch(string(code), -1)
	if len(found) < 4 {
		t.Fatalf("the code seems to know %v", found)
	}
	for _, state := range found {
		if !strings.Contains(exprs.String(), `status="`+state[1]+`"`) {
			t.Errorf("no alert is for status %s", state[1])
		}
	}
}

// TestProblemsRaiseAlerts holds that each problem of sluice status raises one alert, by the metrics of the same moment.
func TestProblemsRaiseAlerts(t *testing.T) {
	db := database(t)
	db.Exec(t, `update "it's ""Ö"" $x_internal".pgt_tasks set last_error = 'no' where task = 'consumer groups';
		update "it's ""Ö"" $x_internal".pgt_tasks set last_error = 'stream table a differs from its query: missing rows: 1, extra rows: 0' where task like '%: check';
		update "it's ""Ö"" $x_internal".pgt_stream_table_state set suspended_at = now(), last_error = 'no' where stream_table = 'public.Sums of n'`)
	status, err := commandtest.ReadStatus(t.Context(), db.Connect(t), `it's "Ö" $x`)
	if err != nil {
		t.Fatal(err)
	}
	var series strings.Builder
	for name, value := range collected(t, db) {
		name, labels, _ := strings.Cut(name, " ")
		fmt.Fprintf(&series, "  %s{job=\"j\", %s} %gx30\n", name, strings.ReplaceAll(labels, "\" ", "\", "), value)
	}
	var raised []string
	for _, rule := range rules(t, files(t, "testdata/spec.yaml")) {
		for _, sample := range evaluate(t, rule.Expr, "load 1m\n"+series.String()) {
			raised = append(raised, rule.Alert+" "+sample.Metric.String())
		}
	}
	if len(raised) != len(status.Problems) || len(raised) < 8 {
		t.Errorf("%d problems raise %d alerts:\n%+v\n%s", len(status.Problems), len(raised), status.Problems, strings.Join(raised, "\n"))
	}
}

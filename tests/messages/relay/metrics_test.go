package relay

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
	"github.com/pgsluice/sluice/tests/kit/program"
)

const watchedSpec = `
version: 1
extension: {name: watched, version: 1.0.0}
schema: [schema.sql]
inboxes: [{name: Mail In, max_retries: 1}]
outboxes: [{name: events}]
stream_tables:
  - name: public.sums
    query: |
      SELECT sum(n) AS n FROM numbers
consumer_groups: [{name: g, outbox: events, auto_offset_reset: earliest}]
`

// TestRunServes has sluice run serve metrics of what it ticks, and logs in JSON.
func TestRunServes(t *testing.T) {
	pgtest.Parallel(t)
	const ddl = "create table numbers (n int);\n"
	db := pgtest.DB(t)
	db.Exec(t, ddl+installed.Over(t, watchedSpec, ddl).Install("plain"))
	dir, port := t.TempDir(), freePort(t)
	for name, text := range map[string]string{"spec.yaml": watchedSpec, "schema.sql": ddl} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	db.Exec(t, `select pgtrickle.inbox_receive('Mail In', e, 't', '{}') from unnest(array['a', 'b', 'c']) e;
		select pgtrickle.inbox_mark_failed('Mail In', 'a', 'no');
		select pgtrickle.inbox_mark_processed('Mail In', 'b');
		select pgtrickle.outbox_publish('events', 't', '{}') from generate_series(1, 7);
		insert into numbers select generate_series(1, 4)`)
	var log lockedBuffer
	cmd := program.Command(t, "run", "-f", filepath.Join(dir, "spec.yaml"), "-o", dir, "--dsn", db.DSN("application_name=s3cret"), "--listen", fmt.Sprintf("127.0.0.1:%d", port), "--log-format", "json")
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		lines(t, log.String())
	}()
	url := fmt.Sprintf("http://127.0.0.1:%d", port)
	var text string
	pgtest.Until(t, "the metrics are there", func() bool {
		_, text = get(t, url+"/metrics")
		return strings.Contains(text, `sluice_stream_table_status{extension="watched",status="active",stream_table="public.sums"} 1`)
	})
	for _, want := range []string{
		`sluice_up{extension="watched"} 1`, `sluice_inbox_pending{extension="watched",inbox="Mail In"} 1`, `sluice_inbox_dead_letters{extension="watched",inbox="Mail In"} 1`,
		`sluice_inbox_processed_total{extension="watched",inbox="Mail In"} 1`, `sluice_group_lag_rows{extension="watched",group="g",outbox="events"} 7`,
		`sluice_outbox_rows{extension="watched",outbox="events"} 7`, `sluice_task_failing{extension="watched",task="consumer groups"} 0`, `sluice_ticks_total{extension="watched"}`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing", want)
		}
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	if _, err := parser.TextToMetricFamilies(strings.NewReader(text)); err != nil {
		t.Error(err)
	}
	if strings.Contains(text, "s3cret") {
		t.Error("the metrics hold the connection string")
	}
	if status, _ := get(t, url+"/readyz"); status != 200 {
		t.Errorf("ready: %d", status)
	}
	db.SuperExec(t, "alter schema pgtrickle rename to away")
	pgtest.Until(t, "it is not ready without its schema", func() bool {
		status, body := get(t, url+"/readyz")
		return status == 503 && strings.Contains(body, "watched")
	})
	db.SuperExec(t, "alter schema away rename to pgtrickle")
	if t.Failed() {
		t.Log(text)
	}
}

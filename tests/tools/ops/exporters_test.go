package ops

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.yaml.in/yaml/v3"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// state brings the objects of testdata/spec.yaml into states that metrics tell apart.
const state = `
	set search_path = "it's ""Ö"" $x", public;
	select inbox_receive('Mail "in" {{ x }}', e, 't', '{}') from unnest(array['a', 'b', 'c']) e;
	select inbox_mark_failed('Mail "in" {{ x }}', 'a', 'no');
	select inbox_mark_processed('Mail "in" {{ x }}', 'b');
	select inbox_receive_wire('wired', '{"neither": "nor"}');
	select pause_inbox('paused');
	select outbox_publish('event''s $y', 't', '{}') from generate_series(1, 3);
	select reject_rows('gröup ''1'' "$z" 0123456789012345678901234567890123456789', 'c', array(
	    select p.id from poll_outbox('gröup ''1'' "$z" 0123456789012345678901234567890123456789', 'c', 1) p), 'no');
	select pause_group('paused');
	insert into numbers values (1, 1), (2, 2);
	reset search_path`

// database has the extension of testdata/spec.yaml in such states.
func database(t *testing.T) *pgtest.Database {
	t.Helper()
	db := pgtest.DB(t)
	db.SuperExec(t, pgtest.MakeRoles("ops_monitor"))
	db.Exec(t, "create table numbers (k int primary key, n int not null)")
	db.Exec(t, installed.Load(t, "testdata/spec.yaml").Install("plain"))
	db.Exec(t, `call "it's ""Ö"" $x".tick()`)
	db.Exec(t, state)
	return db
}

// collected are the metrics that sluice run serves: values by names with labels.
func collected(t *testing.T, db *pgtest.Database) map[string]float64 {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(commandtest.NewMetrics(db.DSN(), "All_things", `it's "Ö" $x`))
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		for _, m := range family.Metric {
			labels := map[string]string{}
			for _, l := range m.Label {
				labels[l.GetName()] = l.GetValue()
			}
			values[series(family.GetName(), labels)] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	return values
}

func series(name string, labels map[string]string) string {
	for _, label := range slices.Sorted(maps.Keys(labels)) {
		name += fmt.Sprintf(" %s=%q", label, labels[label])
	}
	return name
}

// metric is a column that an exporter serves.
type metric struct {
	name, column string
	labels       []string
}

// postgresExporter are the queries of its file with what each serves, as postgres_exporter reads it.
func postgresExporter(t *testing.T, text string) map[string][]metric {
	t.Helper()
	var read map[string]struct {
		Query   string
		Metrics []map[string]struct{ Usage, Description string }
	}
	if err := yaml.Unmarshal([]byte(text), &read); err != nil {
		t.Fatal(err)
	}
	all := map[string][]metric{}
	for namespace, q := range read {
		var labels []string
		for _, column := range q.Metrics {
			for name, as := range column {
				if as.Usage == "LABEL" {
					labels = append(labels, name)
				} else {
					all[q.Query] = append(all[q.Query], metric{namespace + "_" + name, name, labels})
				}
			}
		}
	}
	return all
}

// sqlExporter is the same of sql_exporter.
func sqlExporter(t *testing.T, text string) map[string][]metric {
	t.Helper()
	var read struct {
		Collectors []struct {
			Metrics []struct {
				Name   string   `yaml:"metric_name"`
				Labels []string `yaml:"key_labels"`
				Values []string
				Ref    string `yaml:"query_ref"`
			}
			Queries []struct {
				Name string `yaml:"query_name"`
				SQL  string `yaml:"query"`
			}
		}
	}
	if err := yaml.Unmarshal([]byte(text), &read); err != nil {
		t.Fatal(err)
	}
	all, named := map[string][]metric{}, map[string]string{}
	for _, q := range read.Collectors[0].Queries {
		named[q.Name] = q.SQL
	}
	for _, m := range read.Collectors[0].Metrics {
		all[named[m.Ref]] = append(all[named[m.Ref]], metric{m.Name, m.Values[0], m.Labels})
	}
	return all
}

// exported are the series that the queries give.
func exported(t *testing.T, db pgtest.Querier, queries map[string][]metric) map[string]float64 {
	t.Helper()
	values := map[string]float64{}
	for sql, metrics := range queries {
		rows, err := db.Query(t.Context(), sql)
		if err != nil {
			t.Fatalf("%v\n%s", err, sql)
		}
		for rows.Next() {
			cells, columns := rows.RawValues(), map[string]string{}
			found, err := rows.Values()
			if err != nil {
				t.Fatal(err)
			}
			for n, field := range rows.FieldDescriptions() {
				if cells[n] == nil {
					t.Fatalf("column %s is null\n%s", field.Name, sql)
				}
				columns[field.Name] = fmt.Sprint(found[n])
			}
			for _, m := range metrics {
				labels := map[string]string{}
				for _, label := range m.labels {
					labels[label] = columns[label]
				}
				value, err := strconv.ParseFloat(columns[m.column], 64)
				if err != nil {
					t.Fatalf("%s: %v", m.name, err)
				}
				values[series(m.name, labels)] = value
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatalf("%v\n%s", err, sql)
		}
	}
	return values
}

// TestExporters runs the queries of both exporters as owner and as monitor. They give the series and values of sluice run.
func TestExporters(t *testing.T) {
	db, made := database(t), files(t, "testdata/spec.yaml")
	want := collected(t, db)
	for _, name := range []string{"sluice_up", "sluice_problems"} {
		delete(want, series(name, map[string]string{"extension": "All_things"}))
	}
	monitor := monitor(t, db)
	for name, queries := range map[string]map[string][]metric{
		"postgres_exporter": postgresExporter(t, made["postgres_exporter.yaml"]), "sql_exporter": sqlExporter(t, made["sql_exporter.yaml"]),
	} {
		for role, conn := range map[string]pgtest.Querier{"owner": db, "monitor": monitor} {
			t.Run(name+" as "+role, func(t *testing.T) { compare(t, exported(t, conn, queries), want) })
		}
	}
}

// compare holds that series are the same and so are their values, but for time that has passed between.
func compare(t *testing.T, got, want map[string]float64) {
	t.Helper()
	for name, value := range want {
		switch have, there := got[name]; {
		case !there:
			t.Errorf("%s is missing", name)
		case strings.Contains(name, "_seconds"):
			if math.Abs(have-value) > 60 {
				t.Errorf("%s is %g, not %g", name, have, value)
			}
		case have != value:
			t.Errorf("%s is %g, not %g", name, have, value)
		}
	}
	for name := range got {
		if _, there := want[name]; !there {
			t.Errorf("sluice run does not serve %s", name)
		}
	}
}

// monitor is a session of a user with the role monitor of the spec.
func monitor(t *testing.T, db *pgtest.Database) pgtest.Querier {
	t.Helper()
	conn := pgtest.Connect(t, db.SuperDSN())
	if _, err := conn.Exec(t.Context(), "set role ops_monitor"); err != nil {
		t.Fatal(err)
	}
	return conn
}

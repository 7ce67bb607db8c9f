package spec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/specs"
)

func TestDuration(t *testing.T) {
	for _, c := range []struct{ in, out, interval, seconds string }{
		{"500ms", "500ms", "interval '500 milliseconds'", "0.5"},
		{"30s", "30s", "interval '30 seconds'", "30"},
		{"120s", "2m", "interval '2 minutes'", "120"},
		{"1.5s", "1500ms", "interval '1500 milliseconds'", "1.5"},
		{"72h", "3d", "interval '72 hours'", "259200"},
		{"7d", "7d", "interval '168 hours'", "604800"},
		{"0s", "0s", "interval '0 hours'", "0"},
	} {
		d, err := ParseDuration(c.in)
		if err != nil || d.String() != c.out || d.Interval() != c.interval || d.Seconds() != c.seconds {
			t.Errorf("%s: got %s, %s, %s, %v", c.in, d, d.Interval(), d.Seconds(), err)
		}
	}
	for _, bad := range []string{"", "5", "-1s", "1w", "s", "1 s", "1e3s", "40000d", "1h30m"} {
		if d, err := ParseDuration(bad); err == nil {
			t.Errorf("%q: got %s, want an error", bad, d)
		}
	}
}

func TestCron(t *testing.T) {
	for text, ok := range map[string]bool{
		"* * * * *": true, "*/5 0-6,12 1 1-12/2 7": true, "0 0 31 12 0": true,
		"60 * * * *": false, "* 24 * * *": false, "* * 0 * *": false, "* * * 13 *": false, "* * * * 8": false,
		"5-1 * * * *": false, "*/0 * * * *": false, "a * * * *": false, "* * * *": false, ", * * * *": false,
		"0 0 30 2 *": false, "0 0 31 4,6,9,11 */2": false, "0 0 30 2 1": true, "0 0 29 2 *": true, "0 0 31 2,3 *": true,
	} {
		if _, problem := parseCron(text); (problem == "") != ok {
			t.Errorf("%q: got %q", text, problem)
		}
	}
}

func TestCronTimes(t *testing.T) {
	for text, want := range map[string]string{
		"*/20 0-6/3,12 1,15 10/2 5-7": "{[0 20 40] [0 3 6 12] [1 15] [10 12] [0 5 6] true}",
		"5,5,1 3 */10 2 */3":          "{[1 5] [3] [1 11 21 31] [2] [0 3 6] false}",
		"59/1 23 1 1 7":               "{[59] [23] [1] [1] [0] true}",
	} {
		if got := fmt.Sprint(Schedule{Cron: text}.Times()); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

func TestDerivedName(t *testing.T) {
	fits := strings.Repeat("a", 63)
	if got := DerivedName(fits); got != fits {
		t.Errorf("63 bytes are cut: %s", got)
	}
	for full, want := range map[string]string{
		strings.Repeat("a", 64): strings.Repeat("a", 56) + "014842d", // md5sum of 64 a
		// 56 bytes would end within a character, so the cut is before it
		strings.Repeat("é", 27) + "x" + strings.Repeat("é", 9): strings.Repeat("é", 27) + "x" + "836479b",
		strings.Repeat("数", 22):                                strings.Repeat("数", 18) + "881864f",
	} {
		got := DerivedName(full)
		if got != want || !utf8.ValidString(got) || len(got) > MaxNameBytes {
			t.Errorf("DerivedName(%s) = %s, want %s", full, got, want)
		}
	}
}

func TestParseName(t *testing.T) {
	for text, want := range map[string]Name{
		"orders":           {"", "orders"},
		"public.Orders":    {"public", "Orders"},
		`app."a.b"`:        {"app", "a.b"},
		`"My ""x"""."t"`:   {`My "x"`, "t"},
		"a.b.c":            {},
		`"open`:            {},
		".t":               {},
		"s.":               {},
		`a"b`:              {},
		`"a"b`:             {},
		"":                 {},
		"public.order tot": {"public", "order tot"},
	} {
		if got, problem := parseName(text); got != want || (problem != "") != (want == Name{}) {
			t.Errorf("parseName(%s) = %v, %q, want %v", text, got, problem, want)
		}
	}
}

func TestDefaultsAndPlaces(t *testing.T) {
	s := load(t, map[string]string{"a.yaml": `version: 1
extension: {name: shop, version: 1.0.0}
inboxes:
  - name: payments
  - name: "bestellung‑ü"
    retry: {initial: 10m}
    ordering: {sequence: sequence_num}
  - {name: never, retry: none}
  - {name: nothing, retry: {backoff: none}}
`})
	payments, orders, never, nothing := s.Inboxes[0], s.Inboxes[1], s.Inboxes[2], s.Inboxes[3]
	for name, ok := range map[string]bool{
		"extension schema": s.Extension.Schema == "pgtrickle" && s.Extension.Oldest == 14 && s.Extension.Target == TargetPostgres,
		"inbox schema":     payments.Schema == "pgtrickle" && payments.Relation == Name{"pgtrickle", "payments"},
		"max_retries":      payments.MaxRetries == 3,
		"switches":         payments.DeadLetter && payments.Stats && !payments.Materialize && !payments.ChangeFeed,
		"schedule":         payments.Schedule.String() == "1s",
		"max_attempts":     payments.MaxAttempts == 20,
		"retry":            payments.BackOff().Initial.String() == "1s" && payments.Retry.Max.String() == "5m" && payments.Retry.Backoff == BackoffExponential,
		"retry's max":      orders.Retry.Backoff == BackoffExponential && orders.Retry.Max == orders.Retry.Initial,
		"no retry":         never.BackOff() == nil && nothing.BackOff() == nil && never.Retry.Backoff == BackoffNone,
		"retention":        payments.Retention.Processed == nil && payments.Retention.DeadLetter == nil,
		"health":           payments.Health.CriticalPendingAge.String() == "2m" && payments.Health.DegradedDLQ == 10,
		"ordering":         orders.Ordering.Mode == OrderingContiguous && orders.Ordering.Start == 1 && orders.Ordering.Aggregate == "aggregate_id",
		"given":            orders.Given("retry") && !payments.Given("retry"),
	} {
		if !ok {
			t.Errorf("wrong %s: %+v %+v", name, payments, orders)
		}
	}
	for _, c := range []struct {
		got  diag.Pos
		want string
	}{
		{payments.At, "4:5"}, {payments.Field("name"), "4:11"}, {payments.Field("schema"), "4:5"},
		{orders.Retry.Field("initial"), "6:22"}, {payments.Health.Field("degraded_dlq"), "4:5"},
	} {
		if !strings.HasSuffix(c.got.String(), ":"+c.want) {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
}

func TestDirectoryIsMergedInFileNameOrder(t *testing.T) {
	s := load(t, map[string]string{
		"b.yml":         "version: 1\ninboxes: [{name: b}]\nsettings: {inbox_enabled: off}\nschema: [ddl/b.sql]\nroles: {consumer: w}\n",
		"a.yaml":        "version: 1\nextension: {name: shop, version: 1.0.0}\ninboxes: [{name: a}]\nroles: {producer: p}\n",
		"ddl/b.sql":     "create table t ();\n",
		"sub/not.yaml":  "this is not read: [",
		".hidden.yaml":  "nor is this: [",
		"README.md":     "nor this",
		"queries/q.sql": "select\n  1\n",
		"c.yaml":        "version: 1\nstream_tables:\n  - {name: t, query_file: queries/q.sql}\n",
	})
	if got := s.Inboxes[0].Name + s.Inboxes[1].Name; got != "ab" {
		t.Errorf("inboxes are %s", got)
	}
	if s.Settings.Value("inbox_enabled") != "off" || s.Settings.Value("inbox_drain_batch_size") != "1000" {
		t.Errorf("settings are %+v", s.Settings)
	}
	if s.Roles.Producer != "p" || s.Roles.Consumer != "w" || len(s.DDL) != 1 {
		t.Errorf("roles %+v, DDL %+v", s.Roles, s.DDL)
	}
	if at := s.StreamTables[0].Query.Pos(9); filepath.Base(at.File) != "q.sql" || at.Line != 2 || at.Col != 3 {
		t.Errorf("query is at %s", at)
	}
}

func load(t *testing.T, files map[string]string) *Spec {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	specs, errs := Load(dir)
	if !errs.Empty() {
		t.Fatal(errs)
	}
	return specs[0]
}

func TestJSONSchema(t *testing.T) {
	schema := compileSchema(t)
	for _, file := range []string{"../../specs/shop/spec.yaml", "../../cmd/internal/cli/starter/spec.yaml", "testdata/everything.yaml"} {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(instance(t, content)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		misspelt := bytes.Replace(content, []byte("max_retries"), []byte("max_retires"), 1)
		if schema.Validate(instance(t, misspelt)) == nil {
			t.Errorf("%s: a misspelt field passes", file)
		}
		if _, errs := Load(file); !errs.Empty() {
			t.Errorf("%s:\n%s", file, errs)
		}
	}
}

func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(specs.SpecSchema))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("spec.schema.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("spec.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// instance is YAML as the validator sees it.
func instance(t *testing.T, content []byte) any {
	t.Helper()
	var document any
	if err := yaml.Unmarshal(content, &document); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return value
}

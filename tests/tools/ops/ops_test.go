// Package ops holds what the artifact ops writes against Prometheus, Grafana, Kubernetes, Compose and live servers. It is a module of its own, since it
// alone needs theirs.
package ops

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// specs have everything, in names that must be quoted, or some of it.
var specs = []string{"testdata/spec.yaml", "../../../specs/shop", "../../../specs/events", "../../../specs/sales"}

// files are what the artifact of a spec has, by their paths below ops/.
func files(t *testing.T, spec string) map[string]string {
	t.Helper()
	made, err := installed.Load(t, spec).FilesOf([]string{"ops"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	below := map[string]string{}
	for path, text := range made {
		_, path, _ = strings.Cut(path, "/ops/")
		below[path] = text
	}
	return below
}

// eachSpec runs a test for the files of each spec.
func eachSpec(t *testing.T, test func(t *testing.T, files map[string]string)) {
	for _, spec := range specs {
		t.Run(strings.Trim(spec, "./"), func(t *testing.T) { test(t, files(t, spec)) })
	}
}

// sources say which metrics sluice run and sluice-relay serve.
var (
	sources = []string{"../../../cmd/internal/metrics/status.go", "../../../cmd/internal/metrics/extensions.go", "../../../cmd/internal/relay/meter.go"}
	gauges  = regexp.MustCompile(`gauge\("([a-z_]+)"`)
	named   = regexp.MustCompile(`(New\w+)\(prometheus\.\w+\{Name: "([a-z_]+)"`)
)

// served are the names of series that the code serves.
func served(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, path := range sources {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range gauges.FindAllStringSubmatch(string(text), -1) {
			names["sluice_"+found[1]] = true
		}
		for _, found := range named.FindAllStringSubmatch(string(text), -1) {
			if found[1] == "NewHistogramVec" {
				found[2] += "_bucket"
			}
			names[found[2]] = true
		}
	}
	if len(names) < 30 || !names["sluice_up"] || !names["sluice_tick_seconds_bucket"] || !names["sluice_relay_up"] {
		t.Fatalf("the code seems to serve %v", names)
	}
	return names
}

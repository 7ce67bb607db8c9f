// Package house checks the layout of the code: who may import whom, and that each third-party module has one home.
package house

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/pgsluice/sluice/"

// rooms lists what each room may import of the module, by prefix. Imports point down only.
var rooms = map[string][]string{
	"cmd/sluice":                       {"cmd/internal/cli"},
	"cmd/sluice-relay":                 {"cmd/internal/relay/cli"},
	"cmd/commandtest":                  {"cmd/internal/cli", "cmd/internal/demo", "cmd/internal/drift", "cmd/internal/live", "cmd/internal/metrics", "cmd/internal/sandbox", "cmd/internal/verify"},
	"cmd/commandtest/relaytest":        {"cmd/internal/relay/cli"},
	"cmd/internal/cli":                 {"cmd/internal/demo", "cmd/internal/live", "cmd/internal/metrics", "cmd/internal/process", "cmd/internal/pull", "cmd/internal/ui", "cmd/internal/verify", "cmd/internal/watch", "generator", "generator/artifact", "generator/explain", "generator/migrations", "generator/plan", "generator/spec", "generator/upgrade", "ivm/diag", "specs"},
	"cmd/internal/metrics":             {"cmd/internal/live", "cmd/internal/metrics/endpoint"},
	"cmd/internal/metrics/endpoint":    {},
	"cmd/internal/process":             {"ivm/diag"},
	"cmd/internal/process/processtest": {},
	"cmd/internal/ui":                  {"cmd/internal/live", "generator/page", "ivm/diag"},
	"cmd/internal/watch":               {"cmd/internal/live", "ivm/diag"},
	"cmd/internal/relay":               {"cmd/internal/metrics/endpoint", "cmd/internal/relay/cloud", "cmd/internal/relay/config", "cmd/internal/relay/file", "cmd/internal/relay/kafka", "cmd/internal/relay/mqtt", "cmd/internal/relay/names", "cmd/internal/relay/nats", "cmd/internal/relay/postgres", "cmd/internal/relay/rabbitmq", "cmd/internal/relay/redis", "cmd/internal/relay/webhook", "cmd/internal/relay/wire", "ivm/diag"},
	"cmd/internal/relay/cli":           {"cmd/internal/process", "cmd/internal/relay", "cmd/internal/relay/config", "ivm/diag"},
	"cmd/internal/relay/cloud":         {"cmd/internal/relay/config", "cmd/internal/relay/wire"},
	"cmd/internal/relay/config":        {"cmd/internal/relay/wire", "generator/spec", "ivm/diag"},
	"cmd/internal/relay/file":          {"cmd/internal/relay/config", "cmd/internal/relay/wire"},
	"cmd/internal/relay/mqtt":          {"cmd/internal/relay/config", "cmd/internal/relay/tlsconfig", "cmd/internal/relay/wire"},
	"cmd/internal/relay/kafka":         {"cmd/internal/relay/config", "cmd/internal/relay/tlsconfig", "cmd/internal/relay/wire", "generator/spec"},
	"cmd/internal/relay/nats":          {"cmd/internal/relay/config", "cmd/internal/relay/tlsconfig", "cmd/internal/relay/wire"},
	"cmd/internal/relay/postgres":      {"cmd/internal/relay/config", "cmd/internal/relay/wire"},
	"cmd/internal/relay/rabbitmq":      {"cmd/internal/relay/config", "cmd/internal/relay/tlsconfig", "cmd/internal/relay/wire"},
	"cmd/internal/relay/names":         {},
	"cmd/internal/relay/redis":         {"cmd/internal/relay/config", "cmd/internal/relay/names", "cmd/internal/relay/tlsconfig", "cmd/internal/relay/wire"},
	"cmd/internal/relay/relaytest":     {"cmd/internal/relay/wire"},
	"cmd/internal/relay/tlsconfig":     {"cmd/internal/relay/config"},
	"cmd/internal/relay/webhook":       {"cmd/internal/relay/config", "cmd/internal/relay/tlsconfig", "cmd/internal/relay/wire"},
	"cmd/internal/relay/wire":          {},
	"cmd/internal/demo":                {"cmd/internal/live", "cmd/internal/sandbox", "generator", "generator/spec", "ivm/diag", "specs"},
	"cmd/internal/drift":               {"generator/upgrade", "ivm/diag", "ivm/sqltext"},
	"cmd/internal/live":                {"cmd/internal/drift", "generator", "generator/artifact", "generator/plan", "generator/upgrade", "ivm/diag", "ivm/sqltext"},
	"cmd/internal/pull":                {"generator/plan", "generator/spec", "ivm/diag", "ivm/sqltext"},
	"cmd/internal/verify":              {"cmd/internal/drift", "cmd/internal/live", "generator", "generator/artifact", "generator/upgrade", "ivm/diag", "ivm/sqltext", "ivm/sqltext/ddl"},
	"cmd/internal/sandbox":             {},
	"generator":                        {"generator/artifact", "generator/explain", "generator/fixed", "generator/objects", "generator/plan", "generator/render", "generator/spec", "generator/upgrade", "ivm", "ivm/catalog", "ivm/diag", "ivm/sqltext"},
	"generator/artifact":               {"generator/docs", "generator/migrations", "generator/objects", "generator/ops", "generator/parallel", "generator/plan", "generator/render", "generator/spec", "generator/upgrade", "ivm/diag", "ivm/sqltext"},
	"generator/fixed":                  {"generator/render", "generator/spec", "ivm/sqltext"},
	"generator/objects":                {"generator/parallel", "generator/plan", "generator/render", "generator/spec", "generator/upgrade", "ivm/diag", "ivm/sqltext"},
	"generator/plan":                   {"generator/parallel", "generator/render", "generator/spec", "generator/upgrade", "ivm", "ivm/algebra", "ivm/catalog", "ivm/diag", "ivm/sqltext"},
	"generator/ops":                    {"generator/render", "ivm/sqltext"},
	"generator/parallel":               {},
	"generator/docs":                   {"generator/page", "generator/render", "generator/upgrade", "ivm/diag", "ivm/sqltext", "templates"},
	"generator/page":                   {"ivm/diag", "ivm/sqltext"},
	"generator/explain":                {"generator/page", "ivm", "ivm/algebra", "ivm/catalog", "ivm/diag", "ivm/resolve", "ivm/sqltext"},
	"generator/render":                 {"ivm/sqltext", "templates"},
	"generator/migrations":             {},
	"generator/upgrade":                {"ivm/sqltext"},
	"generator/spec":                   {"ivm/diag"},
	"generator/spec/spectest":          {"generator/spec"},
	"ivm":                              {"ivm/algebra", "ivm/algebra/props", "ivm/apply", "ivm/catalog", "ivm/delta", "ivm/diag", "ivm/emit", "ivm/resolve", "ivm/rewrite", "ivm/sqltext"},
	"ivm/emit":                         {"ivm/algebra", "ivm/apply", "ivm/catalog", "ivm/sqltext"},
	"ivm/apply":                        {"ivm/algebra", "ivm/catalog", "ivm/sqltext"},
	"ivm/rewrite":                      {"ivm/algebra", "ivm/algebra/props", "ivm/sqltext"},
	"ivm/delta":                        {"ivm/algebra", "ivm/algebra/props", "ivm/sqltext"},
	"ivm/resolve":                      {"ivm/algebra", "ivm/algebra/props", "ivm/catalog", "ivm/diag", "ivm/sqltext", "ivm/typing"},
	"ivm/typing":                       {"ivm/catalog", "ivm/diag", "ivm/sqltext"},
	"ivm/algebra/props":                {"ivm/algebra"},
	"ivm/algebra":                      {"ivm/catalog", "ivm/sqltext"},
	"ivm/catalog":                      {"ivm/diag", "ivm/sqltext", "ivm/sqltext/ddl"},
	"ivm/sqltext":                      {},
	"ivm/sqltext/ddl":                  {"ivm/sqltext"},
	"ivm/diag":                         {},
	"templates":                        {},
	"specs":                            {},
}

// homes lists where each third-party module lives; tests may use any.
var homes = map[string][]string{
	"github.com/jackc/pgx":              {"cmd/internal/live", "cmd/internal/cli", "cmd/internal/demo", "cmd/internal/drift", "cmd/internal/pull", "cmd/internal/relay/postgres", "cmd/internal/verify"},
	"github.com/eclipse/paho.golang":    {"cmd/internal/relay/mqtt"},
	"github.com/rabbitmq/amqp091-go":    {"cmd/internal/relay/rabbitmq"},
	"github.com/redis/go-redis":         {"cmd/internal/relay/redis"},
	"golang.org/x/net/websocket":        {"cmd/internal/relay/mqtt"},
	"gocloud.dev":                       {"cmd/internal/relay/cloud"},
	"cloud.google.com/go/pubsub":        {"cmd/internal/relay/cloud"},
	"github.com/aws/aws-sdk-go-v2":      {"cmd/internal/relay/cloud"},
	"github.com/Azure/azure-sdk-for-go": {"cmd/internal/relay/cloud"},
	"github.com/prometheus":             {"cmd/internal/metrics", "cmd/internal/metrics/endpoint", "cmd/internal/relay"},
	"github.com/nats-io/nats.go":        {"cmd/internal/relay/nats"},
	"github.com/twmb/franz-go":          {"cmd/internal/relay/kafka"},
	"charm.land":                        {"cmd/internal/watch"},
	"github.com/mattn/go-runewidth":     {"cmd/internal/watch"},
	"go.opentelemetry.io":               {"cmd/internal/relay"},
	"github.com/pganalyze/pg_query_go":  {"ivm/sqltext", "ivm/sqltext/ddl"},
	"github.com/Masterminds/sprig":      {"generator/render"},
	"github.com/Masterminds/semver":     {"generator/spec"},
	"github.com/spf13/cobra":            {"cmd/internal/cli", "cmd/internal/process", "cmd/internal/process/processtest", "cmd/internal/relay/cli"},
	"github.com/spf13/pflag":            {"cmd/internal/cli", "cmd/internal/process", "cmd/internal/process/processtest"},
	"go.yaml.in/yaml":                   {"generator/spec"},
	"github.com/invopop/jsonschema":     {"generator/spec/spectest"},
	"github.com/pmezard/go-difflib":     {"generator/artifact", "generator/upgrade"},
	"github.com/nulab/autog":            {"generator/page"},
	"golang.org/x/text":                 {"ivm/diag"},
	"golang.org/x/sys":                  {"cmd/internal/sandbox"},
	"golang.org/x/sync/errgroup":        {"cmd/internal/demo", "cmd/internal/relay"},
	"golang.org/x/term":                 {"cmd/internal/demo", "cmd/internal/cli"},
	"github.com/jedib0t/go-pretty":      {"cmd/internal/demo", "cmd/internal/cli"},
}

type listed struct {
	ImportPath string
	Imports    []string
}

// TestProgramsAreLight: sluice has no client of a broker, which CI would build to generate, and the relay has no C, so it builds without a C compiler.
func TestProgramsAreLight(t *testing.T) {
	without := map[string][]string{
		"sluice":       {"cmd/internal/relay/kafka", "google.golang.org/grpc", "go.opentelemetry.io"},
		"sluice-relay": {"ivm/sqltext"},
	}
	for program, paths := range without {
		for _, p := range packages(t, "-deps", module+"cmd/"+program) {
			for _, path := range paths {
				if strings.HasPrefix(strings.TrimPrefix(p.ImportPath, module), path) {
					t.Errorf("%s has %s", program, p.ImportPath)
				}
			}
		}
	}
}

func TestImportsPointDown(t *testing.T) {
	for _, p := range append(packages(t, module+"..."), packages(t, "-tags", "clouds", module+"...")...) {
		room, ok := strings.CutPrefix(p.ImportPath, module)
		if !ok || strings.HasPrefix(room, "tests/") {
			continue
		}
		allowed, known := rooms[room]
		if !known {
			t.Errorf("%s is no room of the house: say in rooms what it may import", room)
		}
		for _, path := range p.Imports {
			checkImport(t, room, path, allowed)
		}
	}
}

func checkImport(t *testing.T, room, path string, allowed []string) {
	t.Helper()
	first, _, _ := strings.Cut(path, "/")
	ours, isOurs := strings.CutPrefix(path, module)
	switch {
	case isOurs:
		if !contains(allowed, ours) {
			t.Errorf("%s imports %s, which is not below it", room, ours)
		}
	case strings.Contains(first, "."):
		if home := homeOf(path); !contains(home, room) {
			t.Errorf("%s imports %s, whose home is %v", room, path, home)
		}
	}
}

func homeOf(path string) []string {
	for prefix, home := range homes {
		if strings.HasPrefix(path, prefix) {
			return home
		}
	}
	return nil
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

// packages are what go list lists with some arguments.
func packages(t *testing.T, args ...string) []listed {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list", "-json=ImportPath,Imports"}, args...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []listed
	for decoder := json.NewDecoder(strings.NewReader(string(out))); decoder.More(); {
		var p listed
		if err := decoder.Decode(&p); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

package ops

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pgsluice/sluice/cmd/commandtest/relaytest"
	"github.com/pgsluice/sluice/tests/kit/installed"
)

// relay runs sluice-relay with the relay.yaml of a spec.
func relay(t *testing.T, spec string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "relay.yaml")
	if err := os.WriteFile(path, []byte(files(t, spec)["relay.yaml"]), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errors strings.Builder
	code = relaytest.Main(append([]string{"-c", path}, args...), strings.NewReader(""), &out, &errors)
	return code, out.String(), errors.String()
}

// TestRelay has the relay read its configuration: it refuses to start before variables are set, then finds the outboxes and the inbox.
func TestRelay(t *testing.T) {
	db := database(t)
	t.Setenv("DATABASE_URL", db.DSN())
	if code, _, said := relay(t, "testdata/spec.yaml"); code != 1 || !strings.Contains(said, "EVENTS_URL") {
		t.Errorf("without variables: %d\n%s", code, said)
	}
	t.Setenv("EVENTS_URL", "http://127.0.0.1:9/")
	t.Setenv("WEBHOOK_SECRET", "whsec_c2VjcmV0IHRoYXQgaXMgbG9uZyBlbm91Z2g=")
	code, out, said := relay(t, "testdata/spec.yaml", "--dry-run", "5")
	if code != 0 || strings.Count(out, "\n") < 2 {
		t.Errorf("dry run: %d\n%s\n%s", code, out, said)
	}
	t.Setenv("DATABASE_URL", installed.ShopDB(t).DSN())
	t.Setenv("WEBHOOK_LISTEN", "127.0.0.1:0")
	if code, out, said := relay(t, "../../../specs/shop", "check"); code != 0 {
		t.Errorf("check: %d\n%s\n%s", code, out, said)
	}
}

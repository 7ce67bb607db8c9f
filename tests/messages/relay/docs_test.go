package relay

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// TestDocs has the command read each configuration of docs/relay.md.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile("../../../docs/relay.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := yamlBlock.FindAllStringSubmatch(string(text), -1)
	if len(blocks) < 3 {
		t.Fatalf("%d blocks", len(blocks))
	}
	dir := t.TempDir()
	for _, block := range blocks {
		path := filepath.Join(dir, "relay.yaml")
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(block[1], "${file:/run/secrets/partner}", "s")), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := relay(t, "check", "-c", path)
		cmd.Dir = dir
		cmd.Env = append(cmd.Env, "DATABASE_URL=postgres://127.0.0.1:1/x", "WAREHOUSE_URL=postgres://127.0.0.1:1/y", "PAYMENTS_SECRET=s")
		out, err := cmd.CombinedOutput()
		if err != nil && cmd.ProcessState.ExitCode() != 3 { // the servers are not there
			t.Errorf("%v\n%s\n%s", err, block[1], out)
		}
	}
}

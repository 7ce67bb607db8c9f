package commands

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/tests/pgtest"
)

// TestPulledSpecTakesOver creates inboxes by SQL, pulls them into the spec, generates and applies it: the inboxes are the spec's, with their messages, and nothing
// differs from what the spec makes.
func TestPulledSpecTakesOver(t *testing.T) {
	db := pgtest.DB(t)
	dir := t.TempDir()
	specs, out := filepath.Join(dir, "specs"), filepath.Join(dir, "out")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(pgtest.ErrorText(err))
		}
	}
	must(os.Mkdir(specs, 0o755))
	must(os.WriteFile(filepath.Join(specs, "shop.yaml"), []byte("version: 1\nextension: {name: shop, version: 1.0.0, imperative: true}\nartifacts: [migrations]\ninboxes: [{name: payments}]\n"), 0o644))
	sluice := func(args ...string) string {
		t.Helper()
		var stdout, stderr bytes.Buffer
		args = append(args, "-f", specs, "-o", out)
		if args[0] != "generate" {
			args = append(args, "--dsn", db.DSN())
		}
		if status := commandtest.Main(args, strings.NewReader(""), &stdout, &stderr); status != 0 {
			t.Fatalf("sluice %q: exit status %d\n%s%s", args, status, &stdout, &stderr)
		}
		return stdout.String()
	}
	sluice("apply")
	names := []string{
		"yes", "null", "1", "15e3", "~", "- a", "a: b", "#x", " a ", "'", `"`, `\`, "%s", "{a}", "[b", "@c", "&d", "*e", "|", ">", "é🐘", strings.Repeat("é", 31), "select", "2001-01-01",
		"0x1F", "true", "!!str", "? x", "%1$L", "~inbox~", "`", "a\u00a0b", "<<",
	}
	for n, name := range names {
		_, err := db.Connect(t).Exec(t.Context(), "select pgtrickle.create_inbox($1, p_max_retries => $2, p_with_stats => $3)", name, 1+n%4, n%2 == 0)
		must(err)
		for _, sql := range []string{
			"select pgtrickle.inbox_receive($1, i, 't' || i % 2, '{}') from generate_series(1, 5) i", "select pgtrickle.inbox_mark_processed($1, '1'), pgtrickle.inbox_mark_failed($1, '2', 'x')",
		} {
			_, err := db.Connect(t).Exec(t.Context(), sql, name)
			must(err)
		}
	}
	states := func() string {
		return strings.Join(pgtest.Column[string](t, db, `select concat_ws(' ', inbox_name, inbox_table, max_retries, retention_hours, pending_count, dlq_count, processed_count)
			from pgtrickle.inbox_status() order by inbox_name collate "C"`), "\n")
	}
	db.Exec(t, "call pgtrickle.tick()")
	before := states()
	must(os.WriteFile(filepath.Join(specs, "created.yaml"), []byte(sluice("spec", "pull")), 0o644))
	sluice("generate")
	sluice("apply")
	if after := states(); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	if left := pgtest.One[int](t, db, "select count(*) from pgtrickle.pgt_inbox_config where is_imperative"); left != 0 {
		t.Errorf("%d inboxes are not the spec's", left)
	}
	sluice("diff") // exits 1 if anything differs
	for _, name := range names {
		if n := pgtest.One[int](t, db, fmt.Sprintf("select count(*) from pgtrickle.inbox_claim($s$%s$s$, 10)", name)); n < 3 {
			t.Errorf("inbox %q: %d claimed", name, n)
		}
	}
	if text := sluice("spec", "pull"); !strings.HasSuffix(text, "inboxes: []\n") {
		t.Errorf("pulled again: %s", text)
	}
}

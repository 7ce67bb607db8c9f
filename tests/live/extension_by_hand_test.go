package live

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestExtensionByHand runs the statements that docs/migrations.md gives for the extension flavour: the stream tables have their rows then.
func TestExtensionByHand(t *testing.T) {
	guide, err := os.ReadFile("../../docs/migrations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, steps, found := strings.Cut(string(guide), "# As an extension\n")
	_, steps, ok := strings.Cut(steps, "```sh\n")
	steps, _, end := strings.Cut(steps, "```\n")
	if !found || !ok || !end {
		t.Fatal("the guide has no steps")
	}
	tables, err := os.ReadFile("../../specs/shop/schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	install := installed.Relocate(t, pgtest.Server(t).Install)
	installed.PutFiles(t, install, installed.Load(t, "../../specs/sales/spec.yaml"))
	server := installed.Start(t, install)
	create(t, server, "by_hand")
	conn := pgtest.Connect(t, server.DSN("by_hand"))
	run(t, conn, string(tables))
	run(t, conn, "insert into customers (name, email) values ('Ada', 'a'); insert into orders values ('o', 1, 'paid', 700); insert into captured_payments values ('p', 'o', 700)")
	ran := 0
	for _, line := range strings.Split(steps, "\n") {
		for _, sql := range regexp.MustCompile(`-c '([^']*)'`).FindAllStringSubmatch(line, -1) {
			run(t, conn, sql[1])
			ran++
		}
	}
	if ran != 3 {
		t.Errorf("%d statements were found", ran)
	}
	for _, table := range []string{"large_orders", "customer_payments", "best_customers"} {
		if n := pgtest.One[int](t, conn, "select count(*) from sales."+table); n != 1 {
			t.Errorf("%s has %d rows", table, n)
		}
	}
}

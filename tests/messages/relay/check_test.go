package relay

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestCheck says which ends of pipelines cannot be used, and why, without a word of passwords.
func TestCheck(t *testing.T) {
	pgtest.Parallel(t)
	db := database(t)
	path := write(t, db.DSN(), fmt.Sprintf(`
  - {name: good, from: {outbox: {name: events, group: g}}, to: {inbox: {name: copies}}}
  - {name: new, from: {outbox: {name: events, group: fresh, create: latest}}, to: {stdout: }}
  - {name: bad, from: {outbox: {name: events, group: missing}}, to: {inbox: {name: nowhere}}}
  - {name: other, from: {outbox: {name: events, group: o}}, to: {webhook: {url: 'http://127.0.0.1:%d/'}}}
  - {name: files, from: {outbox: {name: events, group: g}}, to: {file: {path: /nowhere/at/all}}}
  - {name: gone, from: {outbox: {name: gone, group: g}}, to: {inbox: {name: copies, database: 'postgres://u:s3cret@127.0.0.1:1/x'}}}
`, freePort(t)))
	cmd := relay(t, "check", "-c", path)
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() != 3 {
		t.Errorf("status: %v", err)
	}
	for _, want := range []string{
		"good: from outbox: ok\n", "good: to inbox: ok\n", "new: from outbox: ok\n", "new: to stdout: ok\n",
		"bad: from outbox: consumer group not found: missing", "bad: to inbox: inbox not found: nowhere",
		"other: from outbox: consumer group o is one of outbox ordered, not of events\n", "other: to webhook: ", "connection refused",
		"files: to file: stat /nowhere/at: no such file or directory", "gone: from outbox: outbox not found: gone", "gone: to inbox: cannot connect to database x at 127.0.0.1", "7 of the pipelines' ends cannot be used",
	} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("%q is not said", want)
		}
	}
	if strings.Contains(said.String(), "s3cret") {
		t.Error("a password is shown")
	}
	if t.Failed() {
		t.Log(said.String())
	}
	if got := pgtest.One[int64](t, db, "select count(*) from pgtrickle.pgt_consumer_groups"); got != 2 {
		t.Errorf("%d groups: check made one", got)
	}
}

// TestDryRun prints what would be sent, and takes nothing.
func TestDryRun(t *testing.T) {
	pgtest.Parallel(t)
	db := database(t)
	publish(t, db, "events", 30)
	cmd := relay(t, "--dry-run", "3", "-c", write(t, db.DSN(), `
  - {name: a, from: {outbox: {name: events, group: g}}, to: {webhook: {url: 'http://localhost/{{.Type}}'}}, format: cloudevents-binary}
  - {name: b, from: {outbox: {name: events, group: g}}, to: {stdout: }, key: '{{ .Data.missing }}'}
`))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	documents := lines(t, string(out))
	if len(documents) != 6 {
		t.Fatalf("%d lines: %s", len(documents), out)
	}
	first := documents[0]
	if first["address"] != "http://localhost/order.placed" || first["key"] != "k1" || first["headers"].(map[string]any)["ce-id"] != "1" || first["body"].(map[string]any)["n"] != 1.0 {
		t.Errorf("the first: %v", first)
	}
	if reason := fmt.Sprint(documents[5]["rejected"]); !strings.Contains(reason, "missing") {
		t.Errorf("the last: %v", documents[5])
	}
	if got := pgtest.One[int64](t, db, "select count(*) from pgtrickle.pgt_consumer_active_leases"); got != 0 {
		t.Errorf("%d leases", got)
	}
}

// TestRoles checks and runs a relay that creates its group, under the rights that docs/relay.md lists and no others.
func TestRoles(t *testing.T) {
	pgtest.Parallel(t)
	if _, err := pgtest.Connect(t, pgtest.Server(t).DSN("postgres")).Exec(t.Context(), pgtest.MakeRoles("relay_consumer", "relay_producer", "relay_other")); err != nil {
		t.Fatal(err)
	}
	for name, roles := range map[string][2]string{
		"of the extension": {"roles: {consumer: relay_consumer, producer: relay_producer, monitor: relay_other}", ""},
		"of each":          {"", "roles: {consumer: relay_consumer}"},
	} {
		t.Run(name, func(t *testing.T) { relayUnderRoles(t, roles[0], roles[1]) })
	}
}

func relayUnderRoles(t *testing.T, all, own string) {
	producer := ""
	if own != "" {
		own, producer = ", "+own, ", roles: {producer: relay_producer}"
	}
	db := installed.DB(t, installed.Text(t, fmt.Sprintf(`
version: 1
extension: {name: shop, version: 1.0.0}
%s
outboxes: [{name: events%s}]
inboxes: [{name: copies, wire_format: debezium%s}]
`, all, own, producer)))
	db.Exec(t, "call pgtrickle.tick()") // the database is a copy of a template
	publish(t, db, "events", 10)
	as := func(role string) string { return db.SuperDSN("options=-crole=" + role) }
	pipelines := func(source, sink string) string {
		return write(t, as(source), fmt.Sprintf(`
  - name: one
    from: {outbox: {name: events, group: g, create: earliest}}
    to: {inbox: {name: copies, database: %[1]q}}
  - name: raw
    from: {outbox: {name: events, group: raw, create: latest}}
    to: {inbox: {name: copies, database: %[1]q, as: document}}
    format: debezium
`, as(sink)))
	}
	for _, c := range []struct{ source, sink, want string }{
		{"relay_consumer", "relay_producer", "one: from outbox: ok\none: to inbox: ok\nraw: from outbox: ok\nraw: to inbox: ok\n"},
		{"relay_producer", "relay_consumer", "one: from outbox: permission denied for view pgt_outbox_config (SQLSTATE 42501)\n"},
	} {
		said, _ := relay(t, "check", "-c", pipelines(c.source, c.sink)).CombinedOutput()
		if !strings.HasPrefix(string(said), c.want) || c.source == "relay_producer" && !strings.Contains(string(said), "one: to inbox: permission denied for ") {
			t.Errorf("check as %s and %s: %s", c.source, c.sink, said)
		}
	}
	if left := pgtest.One[int64](t, db, "select (select count(*) from pgtrickle.pgt_consumer_groups) + (select count(*) from pgtrickle_internal.pgt_lease_log) + (select count(*) from pgtrickle.pgt_inbox_quarantine)"); left != 0 {
		t.Errorf("check left %d rows", left)
	}
	r := start(t, pipelines("relay_consumer", "relay_producer"))
	pgtest.Until(t, "all events are in the inbox", func() bool {
		return pgtest.One[int64](t, db, "select count(*) from pgtrickle.copies") == 10
	})
	r.stop()
}

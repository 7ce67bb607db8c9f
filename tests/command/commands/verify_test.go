package commands

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

const verifiedSpec = `
version: 1
extension: {name: shop, version: VERSION}
schema: [schema.sql]
inboxes:
  - {name: payments, max_retries: RETRIES}
outboxes:
  - {name: events}
stream_tables:
  - name: totals
    query: |
      select customer_id, sum(amount) as total, count(*) as n from sales group by customer_id
`

const verifiedDDL = `
create table customers (id int primary key, region text not null);
create table sales (id int primary key, customer_id int not null references customers on delete cascade, amount numeric not null);
`

// verified runs the command as superuser, who may install plpgsql_check.
func verified(t *testing.T, db *pgtest.Database, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, talk bytes.Buffer
	status = commandtest.Main(append([]string{"verify", "--dsn", db.SuperDSN(), "--seed", "3", "--rounds", "4"}, args...), strings.NewReader(""), &out, &talk)
	return status, out.String(), talk.String()
}

// The command tries out the spec and upgrades from what was released, says so, and leaves the server as it was. One seed gives one result.
func TestVerify(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("schema.sql", verifiedDDL)
	write("spec.yaml", strings.NewReplacer("VERSION", "1.0.0", "RETRIES", "3").Replace(verifiedSpec))
	var out, talk bytes.Buffer
	if commandtest.Main([]string{"release", "-f", "spec.yaml"}, strings.NewReader(""), &out, &talk) != 0 {
		t.Fatal(talk.String())
	}
	write("spec.yaml", strings.NewReplacer("VERSION", "1.1.0", "RETRIES", "5").Replace(verifiedSpec))

	db := pgtest.DB(t)
	status, first, said := verified(t, db, "-f", "spec.yaml")
	if status != 0 || !strings.Contains(first, "upgrade from 1.0.0  ok ") || !strings.Contains(first, "stream tables       ok ") || !strings.HasPrefix(said, "seed 3\n") {
		t.Fatalf("exit status %d\n%s%s", status, first, said)
	}
	if _, second, _ := verified(t, db, "-f", "spec.yaml"); second != first {
		t.Errorf("the same seed gave\n%s\nand then\n%s", first, second)
	}
	status, document, said := verified(t, db, "-f", "spec.yaml", "--json")
	var result commandtest.VerifyResult
	if err := json.Unmarshal([]byte(document), &result); err != nil || status != 0 || result.Seed != 3 || len(result.Checks) != strings.Count(first, "\n")-1 {
		t.Errorf("exit status %d, %v\n%s%s", status, err, document, said)
	}

	if n := pgtest.One[int](t, db, "select count(*)::int from pg_database where datname like 'sluice_verify%'"); n != 0 {
		t.Errorf("%d scratch databases are left", n)
	}
	if pgtest.One[bool](t, db, "select to_regnamespace('pgtrickle') is not null") {
		t.Error("the database itself was changed")
	}
}

// Inboxes over tables of users, whose ids have one column or several, and whose partitions would not take what is tried.
func TestVerifyOwnTables(t *testing.T) {
	t.Chdir(t.TempDir())
	for path, text := range map[string]string{
		"spec.yaml": `
version: 1
extension: {name: shop, version: 1.0.0}
schema: [schema.sql]
inboxes:
  - {name: one, table: one, columns: {id: id}}
  - {name: two, table: two, columns: {id: [tenant, id, u]}}
  - {name: timed, table: timed, columns: {id: [id, received_at]}, ordering: {aggregate: event_type, sequence: number}, change_feed: true}
`,
		"schema.sql": `
create table one (id uuid primary key, event_type text not null, payload jsonb not null, received_at timestamptz not null, processed_at timestamptz, error text, retry_count integer not null);
create table two (tenant text, id bigint, u uuid, event_type text not null, payload jsonb not null, received_at timestamptz not null, processed_at timestamptz, error text, retry_count integer not null, primary key (u, tenant, id)) partition by list (tenant);
create table two_a partition of two for values in ('a');
create table timed (id text, event_type text not null, payload jsonb not null, received_at timestamptz not null, processed_at timestamptz, error text, retry_count integer not null, number bigint, primary key (id, received_at)) partition by range (received_at);
create table timed_24 partition of timed for values from ('2024-01-01') to ('2025-01-01');
`,
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if status, out, said := verified(t, pgtest.DB(t), "-f", "spec.yaml"); status != 0 {
		t.Fatalf("exit status %d\n%s%s", status, out, said)
	}
}

// Package verify lets sluice verify find what is wrong, and nothing else.
package verify

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const ddl = `
create type mood as enum ('sad', 'ok', 'happy');
create domain positive as integer check (value > 0);
create role made_by_ddl;
set no_such_setting = on;
alter table if exists nothing owner to nobody;
grant select on nothing to nobody;
create table region (code char(2) primary key, name text not null unique);
create table customer (
    id bigint generated always as identity primary key,
    region char(2) references region,
    name varchar(20) not null,
    feels mood not null default 'ok',
    tags text[] not null default '{}',
    since date not null,
    seen timestamptz,
    double_id bigint generated always as (length(name) * 2) stored
);
create table "Odd table" (
    "Key" uuid primary key,
    customer bigint references customer on delete cascade,
    status text not null check (status in ('new', 'paid', 'void')),
    amount numeric(8,2) not null check (amount >= 0 and amount < 1000),
    pieces positive not null,
    weight float8,
    span int4range,
    doc jsonb,
    raw json,
    parent uuid references "Odd table" on delete set null
);
create table measure (at date not null, place text not null, value real, primary key (at, place)) partition by range (at);
create table measure_2023 partition of measure for values from ('2023-01-01') to ('2024-01-01');
create table measure_2024 partition of measure for values from ('2024-01-01') to ('2025-01-01');
create table impossible (x int not null check (x > 5 and x < 5));
`

const spec = `
version: 1
extension: {name: checked, version: 1.0.0, schema: app, imperative: true}
schema: [schema.sql]
inboxes:
  - {name: letters, event_id: "payload->'meta'->>'id'"}
  - {name: jobs, materialize: true, retry: {backoff: constant, initial: 1h}}
outboxes:
  - {name: events}
  - {name: keyed, ordering_key: aggregate_id}
stream_tables:
  - name: by_status
    outbox: true
    query: |
      select status, feels, count(*) as n, sum(amount) as total, max(weight) as heaviest
      from "Odd table" o join customer c on c.id = o.customer group by status, feels
  - name: paid
    refresh_mode: immediate
    query: |
      select "Key", amount, pieces, raw from "Odd table" where status = 'paid'
  - name: places
    query: |
      select place, count(*) as n, avg(value) as mean from measure group by place
`

func options(t *testing.T) commandtest.VerifyOptions {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"schema.sql": ddl, "spec.yaml": spec} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return commandtest.VerifyOptions{
		DSN: pgtest.Server(t).DSN("postgres"), Extension: installed.Load(t, filepath.Join(dir, "spec.yaml")), DDL: []string{ddl}, Seed: 7, Rounds: 12, Log: t.Logf,
	}
}

// outcomes runs verify and returns its checks by name. Nothing may be left on the server.
func outcomes(t *testing.T, o commandtest.VerifyOptions) map[string]commandtest.VerifyCheck {
	t.Helper()
	result, err := commandtest.Verify(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	nothingLeft(t)
	checks := map[string]commandtest.VerifyCheck{}
	for _, c := range result.Checks {
		checks[c.Name] = c
		t.Logf("%s: %s %s", c.Name, c.Outcome, c.Detail)
	}
	return checks
}

func nothingLeft(t *testing.T) {
	t.Helper()
	conn := pgtest.Connect(t, pgtest.Server(t).DSN("postgres"))
	if n := pgtest.One[int](t, conn, "select (select count(*) from pg_database where datname like 'sluice_verify%')::int + (select count(*) from pg_roles where rolname = 'made_by_ddl')::int"); n != 0 {
		t.Errorf("%d databases and roles are left", n)
	}
}

// All is well, and every table was filled that can be.
func TestPasses(t *testing.T) {
	for name, c := range outcomes(t, options(t)) {
		want := commandtest.OK
		switch name {
		case "extension flavour", "random rows":
			want = commandtest.NotChecked
		case "plpgsql_check":
			if !pgtest.Server(t).HasLibrary("plpgsql_check") {
				want = commandtest.NotChecked
			}
		}
		if c.Outcome != want {
			t.Errorf("%s: %s, want %s: %s", name, c.Outcome, want, c.Detail)
		}
		if name == "random rows" && (!strings.HasPrefix(c.Detail, "public.impossible stayed empty") || strings.Count(c.Detail, "stayed empty") != 1) {
			t.Errorf("random rows: %s", c.Detail)
		}
	}
}

// A stream table that is wrong is found, whatever is wrong with it.
func TestFindsBrokenStreamTables(t *testing.T) {
	for name, sql := range map[string]string{
		"a value":       "update app_internal.by_status_rows set __sum1 = __sum1 + 1 where ctid = (select min(ctid) from app_internal.by_status_rows)",
		"a row too few": "delete from app_internal.paid_rows where ctid = (select min(ctid) from app_internal.paid_rows)",
		"no capture":    "alter table public.\"Odd table\" disable trigger user; update public.\"Odd table\" set amount = amount + 1 where status = 'paid'; alter table public.\"Odd table\" enable trigger user",
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t)
			o.Meddle = func(ctx context.Context, conn *pgx.Conn) error {
				_, err := conn.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol)
				return err
			}
			if c := outcomes(t, o)["stream tables"]; c.Outcome != commandtest.Failed || !strings.Contains(c.Detail, "differs from its query") || !strings.Contains(c.Detail, "seed 7") {
				t.Errorf("%s: %s", c.Outcome, c.Detail)
			}
		})
	}
}

// Nothing is left after an interrupt.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := options(t)
	o.Meddle = func(context.Context, *pgx.Conn) error {
		cancel()
		return nil
	}
	if _, err := commandtest.Verify(ctx, o); err == nil {
		t.Error("no error")
	}
	nothingLeft(t)
}

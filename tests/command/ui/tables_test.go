package ui

import (
	"net/url"
	"strings"
	"testing"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

const tablesDDL = `create schema app;
create table app.incoming (
    msg_id uuid primary key, kind text not null, body jsonb not null, came_at timestamptz not null default now(),
    done_at timestamptz, error text, tries integer not null default 0
);
create table app.parcels (
    carrier text not null, parcel_no bigint not null, event_type text not null, payload jsonb not null, received_at timestamptz not null default now(),
    processed_at timestamptz, error text, retry_count integer not null default 0, primary key (carrier, parcel_no)
);
create table app."100%s" (
    event_id bigint primary key, event_type text not null, payload jsonb not null, received_at timestamptz not null default now(),
    processed_at timestamptz, error text, retry_count integer not null default 0
);
`

const tablesSpec = `
version: 1
extension: {name: tables, version: 1.0.0}
schema: [schema.sql]
inboxes:
  - name: incoming
    max_retries: 1
    materialize: true
    table: app.incoming
    columns: {id: msg_id, event_type: kind, payload: body, received_at: came_at, processed_at: done_at, retry_count: tries}
  - name: parcels
    max_retries: 1
    table: app.parcels
    columns: {id: [carrier, parcel_no]}
  - name: percent
    max_retries: 1
    table: app."100%s"
`

// TestTables shows and replays dead letters in tables of the user's own, with ids of other types and of several columns.
func TestTables(t *testing.T) {
	pgtest.Parallel(t)
	db := pgtest.DB(t)
	db.Exec(t, tablesDDL+installed.Over(t, tablesSpec, tablesDDL).Install("plain"))
	db.Exec(t, `insert into app.incoming (msg_id, kind, body, tries, error) values ('00000000-0000-0000-0000-000000000001', 'k', '{"n": 12345678901234567890.10}', 1, 'first');
		insert into app.parcels (carrier, parcel_no, event_type, payload, retry_count, error) values ('a/b', 7, 'k', '{"n": 2}', 1, 'second');
		insert into app."100%s" (event_id, event_type, payload, retry_count, error) values (8, 'k', '{"n": 3}', 1, 'third')`)
	s := start(t, db.DSN(), "--allow-actions")
	for inbox, want := range map[string][]string{
		"incoming": {"first", `"n": 12345678901234567890.10`}, "parcels": {"second", `"n": 2`}, "percent": {"third", `"n": 3`},
	} {
		letters := get[letterList](s, "/api/dead-letters?inbox="+inbox).Letters
		if len(letters) != 1 || *letters[0].Error != want[0] {
			t.Fatalf("%s: %+v", inbox, letters)
		}
		id := letters[0].ID
		one := get[letter](s, "/api/dead-letters?inbox="+inbox+"&id="+url.QueryEscape(id))
		if one.Content == nil || one.Content.Payload == nil || !strings.Contains(*one.Content.Payload, want[1]) {
			t.Errorf("%s: %+v", inbox, one.Content)
		}
		if code, text := s.act("/api/replay", `{"inbox": "`+inbox+`", "ids": ["`+strings.ReplaceAll(id, `"`, `\"`)+`"]}`); code != 200 || !strings.Contains(text, `"replayed":1`) {
			t.Errorf("%s %s: %d %s", inbox, id, code, text)
		}
		if letters = get[letterList](s, "/api/dead-letters?inbox="+inbox).Letters; len(letters) != 0 {
			t.Errorf("%s after: %+v", inbox, letters)
		}
	}
	if flow := get[shownStatus](s, "/api/status").Flow; !strings.Contains(flow, "inbox/percent") {
		t.Error(flow)
	}
}

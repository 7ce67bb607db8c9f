package ui

import (
	"net/url"
	"strings"
	"testing"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

type shownStatus struct {
	commandtest.Status
	Flow    string
	Actions bool
}

type letter struct {
	ID      string
	Error   *string
	Content *struct {
		Payload   *string
		Cut       bool
		Aggregate *string `json:"aggregate_id"`
	}
}

type letterList struct {
	Letters []letter `json:"dead_letters"`
}

// TestReads asks each endpoint that changes nothing.
func TestReads(t *testing.T) {
	pgtest.Parallel(t)
	db := database(t)
	s := start(t, db.DSN("password=p4ssword"))

	status := get[shownStatus](s, "/api/status")
	if len(status.Inboxes) != 2 || len(status.StreamTables) != 2 || len(status.Groups) != 1 || len(status.Outboxes) != 2 || status.Actions {
		t.Errorf("status: %+v", status)
	}
	for _, want := range []string{"<svg ", "2 pending", "1 dead letter", "#inbox/mail", "#group/shipping", "numbers", "public.sums", "&lt;img src=x"} {
		if !strings.Contains(status.Flow, want) {
			t.Errorf("the picture has no %q:\n%s", want, status.Flow)
		}
	}
	if boxes, arrows := strings.Count(status.Flow, "<title>"), strings.Count(status.Flow, `fill="none"`); boxes != 11 || arrows != 9 {
		t.Errorf("the picture has %d boxes and %d arrows:\n%s", boxes, arrows, status.Flow)
	}
	if strings.Contains(status.Flow, "<img") {
		t.Error("the picture holds HTML of a name")
	}

	_, text := s.request("GET", "/api/dead-letters?inbox=mail", "")
	if strings.Contains(text, "p4yload") {
		t.Errorf("the list has payloads: %s", text)
	}
	letters := get[letterList](s, "/api/dead-letters?inbox=mail").Letters
	if len(letters) != 1 || letters[0].ID != "one" || *letters[0].Error != "no such street" {
		t.Errorf("letters: %+v", letters)
	}
	one := get[letter](s, "/api/dead-letters?inbox=mail&id=one")
	if one.Content == nil || !strings.Contains(*one.Content.Payload, "p4yload") || *one.Content.Aggregate != "a1" {
		t.Errorf("one: %+v", one)
	}
	one = get[letter](s, "/api/dead-letters?inbox="+url.QueryEscape(hostile)+"&id="+url.QueryEscape(hostile))
	if *one.Error != hostile || !strings.Contains(*one.Content.Payload, "</pre>") && !strings.Contains(*one.Content.Payload, `\u003c/pre`) {
		t.Errorf("one: %+v", one)
	}
	if letters = get[letterList](s, "/api/dead-letters?group=shipping").Letters; len(letters) != 1 || letters[0].ID != "2" || *letters[0].Error != "bad address" {
		t.Errorf("letters of the group: %+v", letters)
	}
	if one = get[letter](s, "/api/dead-letters?group=shipping&id=2"); !strings.Contains(*one.Content.Payload, "3vent") {
		t.Errorf("one of the group: %+v", one)
	}

	db.Exec(t, `select pgtrickle.inbox_receive('mail', 'long', 'note', to_jsonb(repeat('x', 300000)));
		select pgtrickle.inbox_mark_failed('mail', 'long', 'too long')`)
	if one = get[letter](s, "/api/dead-letters?inbox=mail&id=long"); !one.Content.Cut || len(*one.Content.Payload) != 200_000 {
		t.Errorf("a long payload is not cut: %d", len(*one.Content.Payload))
	}

	explained := get[struct{ Lines []string }](s, "/api/explain?name=public.sums").Lines
	if !strings.Contains(strings.Join(explained, "\n"), "strategy: ") {
		t.Errorf("explained: %q", explained)
	}
	refreshes := get[struct{ Refreshes []struct{ Inserted int } }](s, "/api/history?name=public.sums").Refreshes
	if len(refreshes) == 0 {
		t.Error("no refreshes")
	}
	if versions := get[struct{ Versions []struct{ Version string } }](s, "/api/history").Versions; len(versions) != 1 || versions[0].Version != "1.0.0" {
		t.Errorf("versions: %+v", versions)
	}

	for path, code := range map[string]int{
		"/api/dead-letters": 422, "/api/dead-letters?inbox=a&group=b": 422, "/api/dead-letters?inbox=a": 404, "/api/dead-letters?group=a": 404,
		"/api/dead-letters?inbox=mail&id=two": 404, "/api/dead-letters?group=shipping&id=x": 404, "/api/dead-letters?group=shipping&id=1": 404,
		"/api/explain?name=a": 404, "/api/explain": 404, "/api/history?name=a": 404, "/api/other": 404, "/static/..%2fui.go": 404, "/static/index.html": 404,
	} {
		if answer, text := s.request("GET", path, ""); answer.StatusCode != code {
			t.Errorf("%s: %d and not %d: %s", path, answer.StatusCode, code, text)
		}
	}
	checkSecrets(t, s, "p4ssword")
}

// checkSecrets holds that nothing shows how the database is reached.
func checkSecrets(t *testing.T, s *site, secrets ...string) {
	t.Helper()
	said := s.out.String() + s.log.String()
	for _, path := range []string{"/", "/api/status", "/api/history", "/api/history?name=public.sums", "/api/explain?name=public.sums", "/api/explain?name=no", "/api/dead-letters?inbox=mail"} {
		_, text := s.request("GET", path, "")
		said += text
	}
	for _, secret := range append(secrets, "host=", "user=", "postgres://", "/dev/shm") {
		if strings.Contains(said, secret) {
			t.Errorf("%q is shown", secret)
		}
	}
}

// TestMonitor serves what a role that only monitors may read, and says what it may not.
func TestMonitor(t *testing.T) {
	pgtest.Parallel(t)
	db := database(t)
	s := start(t, db.Server.DSN(db.Name, "user=ui_watch"), "--allow-actions")
	if status := get[shownStatus](s, "/api/status"); len(status.Inboxes) != 2 || !strings.Contains(status.Flow, "public.sums") {
		t.Errorf("status: %+v", status)
	}
	for _, of := range []string{"inbox=mail&id=one", "group=shipping&id=2"} {
		one := get[letter](s, "/api/dead-letters?"+of)
		if one.Error == nil || one.Content != nil {
			t.Errorf("%s: %+v", of, one)
		}
	}
	for _, path := range []string{"/api/history", "/api/history?name=public.sums", "/api/explain?name=public.sums", "/api/dead-letters?inbox=mail", "/api/dead-letters?group=shipping"} {
		get[any](s, path)
	}
	if code, text := s.act("/api/replay", `{"inbox": "mail", "ids": ["one"]}`); code != 403 || !strings.Contains(text, "permission denied") {
		t.Errorf("replay: %d %s", code, text)
	}
}

// TestActions replays dead letters, pauses and resumes.
func TestActions(t *testing.T) {
	pgtest.Parallel(t)
	db := database(t)
	s := start(t, db.DSN(), "--allow-actions")
	do := func(path, body, want string) {
		t.Helper()
		if code, text := s.act(path, body); code != 200 || !strings.Contains(text, want) {
			t.Errorf("%s %s: %d %s", path, body, code, text)
		}
	}
	do("/api/pause", `{"inbox": "mail"}`, `"paused":true`)
	do("/api/pause", `{"group": "shipping"}`, `"paused":true`)
	status := get[shownStatus](s, "/api/status")
	if !status.Actions || !status.Groups[0].Paused || !strings.Contains(status.Flow, "paused") {
		t.Errorf("paused: %+v", status)
	}
	do("/api/resume", `{"inbox": "mail"}`, `"paused":false`)
	do("/api/resume", `{"group": "shipping"}`, `"paused":false`)
	do("/api/replay", `{"inbox": "mail", "ids": ["one", "none"]}`, `"replayed":1`)
	do("/api/discard", `{"group": "shipping", "ids": ["99"]}`, `"discarded":0`)
	do("/api/replay", `{"group": "shipping", "ids": ["2"]}`, `"replayed":1`)
	status = get[shownStatus](s, "/api/status")
	if status.Groups[0].DeadLetters != 0 || status.Groups[0].Paused || pgtest.One[int](t, db, "select count(*) from pgtrickle.mail_dlq") != 0 {
		t.Errorf("after: %+v", status)
	}
	// The latest refresh of the status and the database agree that one message waits again.
	if pending := pgtest.One[int](t, db, "select count(*) from pgtrickle.mail_pending"); pending != 3 {
		t.Errorf("%d pending", pending)
	}
	for body, code := range map[string]int{
		`{"inbox": "mail", "ids": []}`: 422, `{"inbox": "no", "ids": ["1"]}`: 404, `{"group": "no", "ids": ["1"]}`: 404, `{"group": "shipping", "ids": ["x"]}`: 404,
		`{"ids": ["1"]}`: 400, `{"inbox": "mail", "group": "shipping", "ids": ["1"]}`: 400, `[]`: 400, `{"inbox": "mail", "sql": "x"}`: 400, ``: 400,
	} {
		if got, text := s.act("/api/replay", body); got != code {
			t.Errorf("%s: %d and not %d: %s", body, got, code, text)
		}
	}
}

// TestServerGoesAway shows a database that cannot be read, and again once it can.
func TestServerGoesAway(t *testing.T) {
	pgtest.Parallel(t)
	db := database(t)
	s := start(t, db.DSN("password=p4ssword"))
	get[shownStatus](s, "/api/status")
	db.SuperExec(t, "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()")
	pgtest.Until(t, "it reads again", func() bool {
		answer, text := s.request("GET", "/api/status", "")
		if answer.StatusCode != 200 && answer.StatusCode != 503 {
			t.Fatalf("%d %s", answer.StatusCode, text)
		}
		return answer.StatusCode == 200
	})
	checkSecrets(t, s, "p4ssword")
}

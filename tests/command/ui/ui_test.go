// Package ui runs sluice ui, and asks it what its page asks. With the build tag browser, a real browser shows the page.
package ui

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
	"github.com/pgsluice/sluice/tests/kit/program"
)

func TestMain(m *testing.M) { program.Main(m) }

// hostile is a name, and a text, that would run in a page that took it as HTML.
const hostile = `<img src=x onerror=boom()>`

const shownSpec = `
version: 1
extension: {name: shown, version: 1.0.0}
roles: {monitor: ui_watch}
schema: [schema.sql]
inboxes:
  - {name: mail, max_retries: 1}
  - {name: '` + hostile + `', max_retries: 1}
outboxes:
  - {name: events}
consumer_groups:
  - {name: shipping, outbox: events, auto_offset_reset: earliest}
stream_tables:
  - name: public.sums
    outbox: true
    query: |
      select sum(n) as n from numbers
  - name: doubled
    query: |
      select 2 * n as n from public.sums
`

const shownDDL = "create table numbers (n int);\n"

// database has the extension of shownSpec, dead letters, and one refresh.
func database(t *testing.T) *pgtest.Database {
	t.Helper()
	db := pgtest.DB(t)
	db.SuperExec(t, pgtest.MakeRoles("ui_watch")+"; alter role ui_watch login")
	db.Exec(t, shownDDL+installed.Over(t, shownSpec, shownDDL).Install("plain"))
	for _, statement := range []string{
		`select pgtrickle.inbox_receive('mail', e, 'note', '{"secret": "p4yload"}', 'post', 'a1') from unnest(array['one', 'two', 'three']) e`,
		"select pgtrickle.inbox_mark_failed('mail', 'one', 'no such street')",
		"call pgtrickle_internal.pgt_fill()",
		"insert into numbers select generate_series(1, 4)",
		"select pgtrickle.refresh_stream_table('public.sums')",
		`select pgtrickle.outbox_publish('events', 'sent', '{"secret": "3vent"}') from generate_series(1, 3)`,
		"select from pgtrickle.poll_outbox('shipping', 'a', 3)",
		"select pgtrickle.reject_rows('shipping', 'a', array[2], 'bad address')",
	} {
		db.Exec(t, statement)
	}
	db.Exec(t, `select pgtrickle.inbox_receive($1, $1, $1, jsonb_build_object('text', $1::text, 'close', '</pre><script>boom()</script>'))`, hostile)
	db.Exec(t, `select pgtrickle.inbox_mark_failed($1, $1, $1)`, hostile)
	return db
}

// site is a sluice ui, a process of its own.
type site struct {
	t        *testing.T
	url      string
	out, log lockedBuffer
}

// lockedBuffer may be read while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// token is in the environment of the command.
const token = "0123456789abcdef-token"

// start runs the command until the end of the test.
func start(t *testing.T, dsn string, args ...string) *site {
	t.Helper()
	s := &site{t: t}
	cmd := program.Command(t, append([]string{"ui", "--schema", "pgtrickle", "--listen", "127.0.0.1:0", "--dsn", dsn}, args...)...)
	cmd.Env = append(cmd.Env, "SLUICE_TEST_TOKEN="+token)
	cmd.Stdout, cmd.Stderr = &s.out, &s.log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil || t.Failed() {
			t.Errorf("%v\n%s", err, s.log.String())
		}
	})
	pgtest.Until(t, "it prints its URL", func() bool { return strings.HasSuffix(s.out.String(), "/\n") })
	s.url = strings.TrimSuffix(s.out.String(), "/\n")
	return s
}

// request sends a request; headers are names and values, of which Host is one.
func (s *site) request(method, path, body string, headers ...string) (*http.Response, string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for n := 0; n < len(headers); n += 2 {
		if headers[n] == "Host" {
			r.Host = headers[n+1]
		}
		r.Header.Set(headers[n], headers[n+1])
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer, string(text)
}

// get reads a JSON document.
func get[T any](s *site, path string) (result T) {
	s.t.Helper()
	answer, text := s.request("GET", path, "")
	if answer.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %d %s", path, answer.StatusCode, text)
	}
	if err := json.Unmarshal([]byte(text), &result); err != nil {
		s.t.Fatalf("%s: %v in %s", path, err, text)
	}
	return result
}

// act asks for an action as the page does.
func (s *site) act(path, body string) (int, string) {
	s.t.Helper()
	answer, text := s.request("POST", path, body, s.own()...)
	return answer.StatusCode, text
}

// own are the headers of the page's own requests for actions.
func (s *site) own() []string {
	return []string{"Content-Type", "application/json", "X-Sluice-Action", "1", "Origin", s.url}
}

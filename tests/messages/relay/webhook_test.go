package relay

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

const secret = "whsec_c2VjcmV0LW9mLXRoZS10ZXN0"

// endpoint is an application that gets webhooks. It takes each id once, and fails at random.
type endpoint struct {
	t        *testing.T
	mu       sync.Mutex
	random   *rand.Rand
	taken    map[string]bool
	byKey    map[string][]float64
	requests int
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.requests++
	mac := hmac.New(sha256.New, []byte("secret-of-the-test"))
	fmt.Fprintf(mac, "%s.%s.%s", r.Header.Get("webhook-id"), r.Header.Get("webhook-timestamp"), body)
	if r.Header.Get("webhook-signature") != "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)) || r.Header.Get("Authorization") != "Bearer t0ken" {
		e.t.Error("the request is not signed, or lacks its header")
	}
	var payload struct{ N float64 }
	if err := json.Unmarshal(body, &payload); err != nil || r.URL.Path != "/in/order.placed" {
		e.t.Errorf("%s: %s", r.URL, body)
	}
	id, key := r.Header.Get("Idempotency-Key"), r.Header.Get("event-key")
	switch n := e.random.IntN(10); {
	case payload.N == 13:
		http.Error(w, "never", http.StatusUnprocessableEntity)
	case n == 0:
		http.Redirect(w, r, "http://127.0.0.1:1/elsewhere", http.StatusTemporaryRedirect)
	case n == 1:
		http.Error(w, "busy", http.StatusServiceUnavailable)
	case n == 2:
		e.take(id, key, payload.N)
		panic(http.ErrAbortHandler) // it has it, and the relay does not know
	default:
		e.take(id, key, payload.N)
	}
}

func (e *endpoint) take(id, key string, n float64) {
	if !e.taken[id] {
		e.taken[id] = true
		e.byKey[key] = append(e.byKey[key], n)
	}
}

// TestWebhook sends events to an endpoint that fails: none is lost, those of one key arrive in order, and one that it never takes is a dead letter.
func TestWebhook(t *testing.T) {
	pgtest.Parallel(t)
	db := database(t)
	e := &endpoint{t: t, random: rand.New(rand.NewPCG(5, 5)), taken: map[string]bool{}, byKey: map[string][]float64{}}
	server := httptest.NewServer(e)
	defer server.Close()
	publish(t, db, "ordered", 300)
	r := start(t, write(t, db.DSN(), fmt.Sprintf(`
  - name: hooks
    from: {outbox: {name: ordered, group: o}}
    to: {webhook: {url: '%s/in/{{.Type}}', secret: %s, headers: {Authorization: 'Bearer ${SLUICE_TEST_TOKEN}'}}}
    retry: {first: 5ms, longest: 20ms}
    batch: 50
`, server.URL, secret)))
	pgtest.Until(t, "all are settled", func() bool {
		return pgtest.One[int64](t, db, "select lag_rows from pgtrickle.pgt_consumer_group_lag where group_name = 'o'") == 0
	})
	r.stop()
	if len(e.taken) != 299 {
		t.Errorf("%d events arrived, not 299", len(e.taken))
	}
	for key, numbers := range e.byKey {
		for i := 1; i < len(numbers); i++ {
			if numbers[i] <= numbers[i-1] {
				t.Errorf("key %s: %v after %v", key, numbers[i], numbers[i-1])
			}
		}
	}
	if got := pgtest.One[string](t, db, "select string_agg(d.payload ->> 'n' || ' ' || error, ',') from pgtrickle.pgt_consumer_dead_letters d join pgtrickle.outbox_ordered using (id)"); !strings.Contains(got, "13 POST") || !strings.Contains(got, "422") {
		t.Errorf("dead letters: %s", got)
	}
	if log := r.log.String(); strings.Contains(log, "t0ken") || strings.Contains(log, "c2VjcmV0") {
		t.Error("the log holds a secret")
	}
}

// TestWebhookSource receives signed requests into an inbox, and answers when they are stored.
func TestWebhookSource(t *testing.T) {
	pgtest.Parallel(t)
	from, to := database(t), database(t)
	db, port := to, freePort(t)
	dir := t.TempDir()
	config := fmt.Sprintf(`
  - name: in
    from: {webhook: {listen: '127.0.0.1:%d', path: /hooks, secret: %s}}
    to: {inbox: {name: copies}}
`, port, secret)
	receiver := start(t, write(t, to.DSN(), config))
	publish(t, from, "events", 200)
	send := func(key string) string {
		return write(t, from.DSN(), fmt.Sprintf(`
  - name: out
    from: {outbox: {name: events, group: g}}
    to: {webhook: {url: 'http://127.0.0.1:%d/hooks', secret: %s}}
    retry: {first: 5ms, longest: 50ms}
`, port, key))
	}
	wrong := start(t, send("other"))
	pgtest.Until(t, "wrong signatures are refused", func() bool { return strings.Contains(wrong.log.String(), "401 Unauthorized") })
	wrong.stop()
	if got := pgtest.One[int64](t, db, "select count(*) from pgtrickle.copies"); got != 0 {
		t.Errorf("%d messages with a wrong signature were stored", got)
	}
	sender := start(t, send(secret))
	receiver.kill()
	start(t, write(t, to.DSN(), config))
	pgtest.Until(t, "all events are in the inbox", func() bool {
		return pgtest.One[int64](t, db, "select count(*) from pgtrickle.copies where event_type = 'order.placed' and aggregate_id like 'k%'") == 200
	})
	sender.stop()
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Error(files, err)
	}
	for _, bad := range []struct {
		method, path, body string
		want               int
	}{{"POST", "/", "{}", 404}, {"GET", "/hooks", "", 405}, {"POST", "/hooks", strings.Repeat("x", 2<<20), 413}, {"POST", "/hooks", "{}", 401}} {
		request, _ := http.NewRequest(bad.method, fmt.Sprintf("http://127.0.0.1:%d%s", port, bad.path), strings.NewReader(bad.body))
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != bad.want {
			t.Errorf("%s %s: %s, not %d", bad.method, bad.path, answer.Status, bad.want)
		}
	}
}

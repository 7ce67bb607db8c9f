package examples

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/pgsluice/sluice/tests/kit/broker"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

const webhookKey = "secret of the test"

// webhook is a message of a sender.
type webhook struct{ id, body string }

// post sends a message, signed at a time, and returns the status, 0 without an answer.
func (w webhook) post(address string, at time.Time, key string) int {
	request, err := http.NewRequest("POST", address, bytes.NewReader([]byte(w.body)))
	if err != nil {
		return 0
	}
	mac := hmac.New(sha256.New, []byte(key))
	timestamp := fmt.Sprint(at.Unix())
	fmt.Fprintf(mac, "%s.%s.%s", w.id, timestamp, w.body)
	request.Header.Set("webhook-id", w.id)
	request.Header.Set("webhook-timestamp", timestamp)
	request.Header.Set("webhook-signature", "v1,AAAA v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil))) // another key's, too, as while keys change
	answer, err := (&http.Client{Timeout: 10 * time.Second}).Do(request)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	return answer.StatusCode
}

func TestPythonWebhooks(t *testing.T) { webhooksKilled(t, python(), "webhook.py") }

func TestNodeWebhooks(t *testing.T) { webhooksKilled(t, "node", nodeScript(t, "webhook.mjs")) }

// webhooksKilled kills a receiver with kill -9 while senders send until they are answered, some messages twice: the inbox has each once.
func webhooksKilled(t *testing.T, receiver ...string) {
	db := installed.ShopDB(t)
	port := broker.Port(t)
	address := "http://127.0.0.1:" + port
	begin := func() *exec.Cmd {
		c := exec.Command(receiver[0], append(receiver[1:], db.DSN(), "order_events", port)...)
		c.Env = append(os.Environ(), "WEBHOOK_SECRET=whsec_"+base64.StdEncoding.EncodeToString([]byte(webhookKey)))
		c.Stderr = os.Stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Process.Kill(); c.Wait() })
		if err := broker.Await("127.0.0.1:" + port); err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := begin()
	refusals(t, address)
	const senders = 4
	each, kills := pgtest.ShortOrLong(25, 200), pgtest.ShortOrLong(2, 5)
	var answered atomic.Int64
	var sent sync.WaitGroup
	for sender := range senders {
		sent.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(sender)))
			for n := range each {
				w := webhook{fmt.Sprintf("msg_%d-%d", sender, n), fmt.Sprintf(`{"type": "order.placed", "order_id": "ü%d"}`, n)}
				for again := random.IntN(5) == 0; ; {
					status := w.post(address, time.Now(), webhookKey)
					switch {
					case status == 204 && !again:
						answered.Add(1)
					case status == 204:
						again = false
						continue
					case status == 0 || status == 503:
						time.Sleep(5 * time.Millisecond)
						continue
					default:
						t.Errorf("%s: status %d", w.id, status)
					}
					break
				}
			}
		})
	}
	for kill := range kills {
		for deadline := time.Now().Add(time.Minute); answered.Load() < int64((kill+1)*senders*each/(kills+1)); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("senders get no answers")
			}
		}
		c.Process.Kill()
		c.Wait()
		c = begin()
	}
	sent.Wait()
	want := fmt.Sprint(senders*each, senders*each, each) + " order.placed order.placed"
	if got := pgtest.One[string](t, db, `
		select concat_ws(' ', count(*), count(distinct event_id), count(distinct payload ->> 'order_id'), min(event_type), max(event_type))
		from pgtrickle.order_events`); got != want {
		t.Errorf("the inbox has %s, not %s", got, want)
	}
	c.Process.Signal(syscall.SIGTERM)
	if err := c.Wait(); err != nil {
		t.Errorf("asked to stop: %v", err)
	}
}

// refusals sends what is not stored.
func refusals(t *testing.T, address string) {
	t.Helper()
	good := webhook{"msg_bad", `{"type": "order.placed"}`}
	for _, c := range []struct {
		name string
		w    webhook
		at   time.Time
		key  string
		want int
	}{
		{"another key", good, time.Now(), "another", 401},
		{"a recording", good, time.Now().Add(-10 * time.Minute), webhookKey, 401},
		{"a clock that is ahead", good, time.Now().Add(10 * time.Minute), webhookKey, 401},
		{"no id", webhook{"", good.body}, time.Now(), webhookKey, 401},
		{"no JSON", webhook{"msg_bad", "{"}, time.Now(), webhookKey, 400},
		{"no type", webhook{"msg_bad", "{}"}, time.Now(), webhookKey, 400},
		{"an array", webhook{"msg_bad", "[1]"}, time.Now(), webhookKey, 400},
		{"what JSON of PostgreSQL cannot hold", webhook{"msg_bad", `{"type": "a", "text": "\u0000"}`}, time.Now(), webhookKey, 400},
		{"too much", webhook{"msg_bad", `{"type": "` + strings.Repeat("x", 2<<20) + `"}`}, time.Now(), webhookKey, 413},
	} {
		if got := c.w.post(address, c.at, c.key); got != c.want && !(c.want == 413 && got == 0) { // who still sends may see the connection close
			t.Errorf("%s: status %d, not %d", c.name, got, c.want)
		}
	}
	request, err := http.Get(address)
	if err != nil || request.StatusCode < 400 {
		t.Errorf("GET: %v, %v", request, err)
	}
}

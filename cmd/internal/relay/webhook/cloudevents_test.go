package webhook

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/cloudevents/sdk-go/v2/binding"
	"github.com/cloudevents/sdk-go/v2/event"
	cehttp "github.com/cloudevents/sdk-go/v2/protocol/http"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
	"github.com/pgsluice/sluice/generator/spec"
)

// requestOf returns the request that the sink makes of an event.
func requestOf(t *testing.T, format string, e *wire.Event) *http.Request {
	t.Helper()
	var got *http.Request
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		read, err := cehttp.NewEventFromHTTPRequest(r)
		if err == nil {
			err = read.Validate()
		}
		if err == nil && string(read.Data()) != string(e.Payload) {
			t.Errorf("data %s", read.Data())
		}
		if err != nil {
			t.Error(err)
		}
		got = r
	}))
	defer server.Close()
	sink, err := NewSink(&config.Webhook{URL: server.URL, Method: "POST", Concurrency: 1, Timeout: spec.Duration(5 * time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	address, _ := wire.ParseTemplate(server.URL)
	tenant, _ := wire.ParseTemplate("{{ .Type }}")
	d, err := (&wire.Encoder{Format: format, Address: address, Headers: map[string]wire.Template{"Tenant": tenant}}).Encode(e)
	if err != nil {
		t.Fatal(err)
	}
	if errs := sink.Send(t.Context(), []*wire.Document{d}); errs[0] != nil {
		t.Fatal(errs[0])
	}
	return got
}

// TestSentToOfficialSDK sends odd attributes and headers, which the official SDK takes for valid. It does not decode them.
func TestSentToOfficialSDK(t *testing.T) {
	sent := func() *wire.Event {
		return &wire.Event{ID: "5ü", Origin: "/my src/ü", Type: "Ünï %20 cödé", Key: "k é%", Time: time.UnixMilli(1700000000000), Payload: []byte(`{"a":1}`), Headers: map[string]string{
			"Host": "evil", "Content-Length": "5", "Transfer-Encoding": "chunked", "Connection": "x", "Authorization": "Bearer x", "Cookie": "a=b", "webhook-signature": "v1,forged",
			"X-Forwarded-For": "10.0.0.1", "X-Http-Method-Override": "DELETE", "X-Shop": "s", "tenant": "their own",
		}}
	}
	r := requestOf(t, wire.CloudEventsBinary, sent())
	for name, want := range map[string]string{
		"ce-type": "%C3%9Cn%C3%AF%20%2520%20c%C3%B6d%C3%A9", "ce-subject": "k%20%C3%A9%25", "ce-source": "/my%2520src/%25C3%25BC", "ce-id": "5%C3%BC",
		"webhook-id": "/my%20src/%C3%BC/5%C3%BC", "idempotency-key": "/my%20src/%C3%BC/5%C3%BC", "x-shop": "s", "tenant": "Ünï %20 cödé",
		"connection": "", "transfer-encoding": "", "authorization": "", "cookie": "", "webhook-signature": "", "x-forwarded-for": "", "x-http-method-override": "",
	} {
		if got := r.Header.Get(name); got != want {
			t.Errorf("%s: %q, not %q", name, got, want)
		}
	}
	if r.Host == "evil" || r.ContentLength != 7 {
		t.Error(r.Host, r.ContentLength)
	}
	requestOf(t, wire.CloudEvents, sent())
}

// take posts a request to a source, and returns the event and the status of the answer. The event is nil if the source refused the request.
func take(t *testing.T, format string, r *http.Request) (*wire.Event, int) {
	t.Helper()
	source := &Source{c: &config.WebhookSource{Path: "/hooks", MaxBytes: 1 << 20, Timeout: spec.Duration(5 * time.Second)}, batch: 1, requests: make(chan *request),
		decode: wire.Decoder{Format: format, Origin: "/hooks"}.Decode}
	answer := httptest.NewRecorder()
	var got *wire.Event
	ctx, end := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if events, err := source.Receive(ctx); err == nil {
			got = events[0]
			_ = source.Settle(ctx, events, []error{got.Problem})
		}
	}()
	source.ServeHTTP(answer, r)
	end()
	<-done
	return got, answer.Code
}

// TestReadFromOfficialSDK reads requests that the official SDK makes.
func TestReadFromOfficialSDK(t *testing.T) {
	for _, mode := range []func(context.Context) context.Context{binding.WithForceBinary, binding.WithForceStructured} {
		for _, format := range []string{wire.CloudEvents, wire.CloudEventsBinary} {
			e := event.New()
			e.SetID("1")
			e.SetSource("https://shop.example/orders?x=1#y")
			e.SetType("order.placed")
			e.SetSubject("customer 7 – 100% \"x\"")
			e.SetTime(time.UnixMilli(1700000000000))
			if err := e.SetData(event.ApplicationJSON, map[string]int{"a": 1}); err != nil {
				t.Fatal(err)
			}
			r := httptest.NewRequest("POST", "/hooks", nil)
			if err := cehttp.WriteRequest(mode(t.Context()), binding.ToMessage(&e), r); err != nil {
				t.Fatal(err)
			}
			got, status := take(t, format, r)
			if status != http.StatusNoContent || got.ID != "1" || got.Origin != e.Source() || got.Type != e.Type() || !got.Time.Equal(e.Time()) || string(got.Payload) != `{"a":1}` {
				t.Errorf("%s: %d %+v", format, status, got)
			}
			if want := e.Subject(); got.Key != want && got.Key != strings.ReplaceAll(want, `"`, "") { // it does not encode quotes
				t.Errorf("%s: key %q", format, got.Key)
			}
		}
	}
}

// TestExamplesOfSpecification reads what the binding of CloudEvents for HTTP and its JSON format have as examples.
func TestExamplesOfSpecification(t *testing.T) {
	binary := map[string]string{"ce-specversion": "1.0", "ce-type": "com.example.someevent", "ce-time": "2018-04-05T03:56:24Z", "ce-id": "1234-1234-1234",
		"ce-source": "/mycontext/subcontext", "content-type": "application/json; charset=utf-8"}
	for _, c := range []struct {
		name, value, key string
		status           int
	}{
		{"ce-subject", "Euro%20%E2%82%AC%20%F0%9F%98%80", "Euro € 😀", 204},
		{"ce-subject", "Euro%20%e2%82%ac", "Euro €", 204},
		{"ce-subject", "%41b%2520", "Ab%20", 204},
		{"ce-subject", `"a \"quoted\" \\ text"`, `a "quoted" \ text`, 204},
		{"ce-subject", "100%", "100%", 204},
		{"ce-subject", "%C0%A0", "", 400},
		{"ce-specversion", "0.3", "", 422},
		{"ce-specversion", "1.1", "", 422},
		{"ce-source", "/my src", "", 422},
		{"ce-source", "", "", 422},
		{"content-type", "application/cloudevents+json", "", 422},
		{"content-type", "application/cloudevents-batch+json", "", 422},
	} {
		r := httptest.NewRequest("POST", "/hooks", strings.NewReader(`{}`))
		for name, value := range binary {
			r.Header.Set(name, value)
		}
		r.Header.Set(c.name, c.value)
		got, status := take(t, wire.CloudEvents, r)
		if status != c.status || status == http.StatusNoContent && (got.Key != c.key || got.ID != "1234-1234-1234" || got.Type != "com.example.someevent") {
			t.Errorf("%s: %s: %d %+v", c.name, c.value, status, got)
		}
	}
	body := `{"specversion" : "1.0", "type" : "com.example.someevent", "source" : "/mycontext", "subject": null, "id" : "C234-1234-1234", "time" : "2018-04-05T17:31:00Z",
		"comexampleextension1" : "value", "comexampleothervalue" : 5, "datacontenttype" : "application/vnd.apache.thrift.binary", "data_base64" : "AAAA"}`
	r := httptest.NewRequest("POST", "/hooks", strings.NewReader(body))
	r.Header.Set("content-type", "application/cloudevents+json; charset=UTF-8")
	if got, status := take(t, wire.CloudEventsBinary, r); status != http.StatusNoContent || got.ID != "C234-1234-1234" || string(got.Payload) != `{"data_base64":"AAAA"}` {
		t.Errorf("%d %+v", status, got)
	}
}

package relay

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestTraces publishes an event of a trace: the relay's span is a child of the publisher's, and the inbox has the relay's as parent of what comes.
func TestTraces(t *testing.T) {
	pgtest.Parallel(t)
	db := database(t)
	var mu sync.Mutex
	spans := map[string]string{} // parents by span
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var request collector.ExportTraceServiceRequest
		if err := proto.Unmarshal(body, &request); err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, resource := range request.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				for _, span := range scope.Spans {
					spans[hex.EncodeToString(span.TraceId)+"-"+hex.EncodeToString(span.SpanId)] = hex.EncodeToString(span.ParentSpanId)
				}
			}
		}
	}))
	defer server.Close()
	db.Exec(t, `insert into pgtrickle.outbox_events (event_type, payload, headers) values
		('a', '{}', '{"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}'), ('b', '{}', '{}')`)
	cmd := relay(t, "-c", write(t, db.DSN(), "  - {name: one, from: {outbox: {name: events, group: g}}, to: {inbox: {name: copies}}}\n"))
	cmd.Env = append(cmd.Env, "OTEL_EXPORTER_OTLP_ENDPOINT="+server.URL)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pgtest.Until(t, "both are in the inbox", func() bool {
		return pgtest.One[int64](t, db, "select count(*) from pgtrickle.copies") == 2
	})
	_ = cmd.Process.Signal(os.Interrupt)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	stored := pgtest.One[string](t, db, "select trace_id from pgtrickle.copies where event_type = 'a'")
	parts := strings.Split(stored, "-")
	if len(parts) != 4 || parts[1] != "0af7651916cd43dd8448eb211c80319c" || parts[2] == "b7ad6b7169203331" {
		t.Fatalf("the inbox has %s", stored)
	}
	if len(spans) != 1 || spans[parts[1]+"-"+parts[2]] != "b7ad6b7169203331" {
		t.Errorf("spans %v, the inbox has %s", spans, stored)
	}
}

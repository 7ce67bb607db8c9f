package webhook

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
	"github.com/pgsluice/sluice/generator/spec"
)

// TestURLs sends events whose keys try to lead elsewhere.
func TestURLs(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked = append(asked, r.RequestURI) }))
	defer server.Close()
	for _, c := range []struct{ template, key, want string }{
		{"/in/{{ .Key }}", "a", "/in/a"},
		{"/in/{{ path .Key }}", "a/../b?c#d", "/in/a%2F..%2Fb%3Fc%23d"},
		{"/in/{{ .Key }}", "../admin", ""},
		{"/in/{{ .Key }}", "./x", ""},
		{"/in/{{ .Key }}", "a?admin=1", ""},
		{"/in/{{ .Key }}", "a#b", ""},
		{"/in?key={{ urlquery .Key }}", "a&b=c", "/in?key=a%26b%3Dc"},
		{"{{ .Key }}/in", "@elsewhere.example", ""},
		{"{{ .Key }}/in", ".elsewhere.example", ""},
		{"/in/{{ .Key }}", "a b", "/in/a%20b"},
		{"/in/{{ .Key }}", "%2e%2e/admin", ""},
	} {
		asked = nil
		settings := &config.Webhook{URL: server.URL + c.template, Method: "POST", Concurrency: 1, Timeout: spec.Duration(5e9)}
		sink, err := NewSink(settings)
		if err != nil {
			t.Fatal(err)
		}
		template, err := wire.ParseTemplate(settings.URL)
		if err != nil {
			t.Fatal(err)
		}
		d, err := (&wire.Encoder{Address: template}).Encode(&wire.Event{ID: "1", Key: c.key, Payload: []byte("{}")})
		if err != nil {
			t.Fatal(err)
		}
		err = sink.Send(t.Context(), []*wire.Document{d})[0]
		switch {
		case c.want == "" && (!wire.IsRejected(err) || len(asked) > 0):
			t.Errorf("%s with %s: %v, asked %v", c.template, c.key, err, asked)
		case c.want != "" && (err != nil || len(asked) != 1 || asked[0] != c.want):
			t.Errorf("%s with %s: %v, asked %v", c.template, c.key, err, asked)
		}
	}
}

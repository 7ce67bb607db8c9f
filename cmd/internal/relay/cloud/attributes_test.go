//go:build clouds

package cloud

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/relaytest"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

// TestAttributes packs documents for each cloud and reads them again.
func TestAttributes(t *testing.T) {
	for _, scheme := range []string{config.SNS, config.SQS, config.PubSub, config.ServiceBus} {
		l := limitsOf(scheme)
		for _, format := range relaytest.Formats {
			for _, d := range relaytest.Documents(t, format, "", relaytest.Events(5, 100)) {
				for i := range len(d.Body) % 12 {
					d.Headers[fmt.Sprint("more", i, strings.Repeat("§", i%2))] = fmt.Sprint(i)
				}
				made, err := l.pack(d)
				if err != nil {
					t.Fatal(err)
				}
				if len(made) > l.attributes {
					t.Fatalf("%s: %d attributes", scheme, len(made))
				}
				got := document(d.Body, made)
				if got.ID != d.ID || got.Key != d.Key || got.ContentType != d.ContentType || !maps.Equal(got.Headers, d.Headers) {
					t.Fatalf("%s %s: %+v, not %+v", scheme, format, got, d)
				}
			}
		}
	}
}

func TestPlain(t *testing.T) {
	for name, want := range map[string]bool{
		"event-id": true, "a_b.c": true, "x1": true, "": false, "id": false, "sluice-headers": false, ".a": false, "a.": false, "a..b": false, "aws.x": false,
		"amazon.x": false, "googclient": false, "a b": false, "ä": false, strings.Repeat("x", 257): false,
	} {
		if isPlain(name) != want {
			t.Errorf("%q", name)
		}
	}
}

func TestPackedElsewhere(t *testing.T) {
	if d := document(nil, map[string]string{"sluice-headers": "none", "Name": "x"}); d.Headers["sluice-headers"] != "none" || d.Headers["name"] != "x" {
		t.Fatal(d.Headers)
	}
}

func TestLimits(t *testing.T) {
	large := &wire.Document{Body: []byte("{}"), Headers: map[string]string{"a": strings.Repeat("x", 1025)}}
	if _, err := limitsOf(config.PubSub).pack(large); !wire.IsRejected(err) {
		t.Error(err)
	}
	if _, err := limitsOf(config.SQS).pack(large); err != nil {
		t.Error(err)
	}
	for text, want := range map[string]string{"": "", "/shop/events/1": "/shop/events/1"} {
		if got := short(text); got != want {
			t.Error(got)
		}
	}
	for _, text := range []string{"a b", "ä", strings.Repeat("x", 129)} {
		if got := short(text); !strings.HasPrefix(got, "sha256-") || len(got) > 128 {
			t.Error(got)
		}
	}
}

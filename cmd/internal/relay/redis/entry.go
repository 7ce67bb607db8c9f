package redis

import (
	"encoding/json"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

// document makes a document of an entry. The fields of one that has no body, which others wrote, are a JSON object.
func document(stream string, entry redis.XMessage) *wire.Document {
	d := &wire.Document{Address: stream, Headers: make(map[string]string, len(entry.Values))}
	_, isOurs := entry.Values[fieldBody]
	for name, value := range entry.Values {
		text, _ := value.(string)
		switch {
		case name == fieldBody:
			d.Body = []byte(text)
		case name == fieldID:
			d.ID = text
		case name == fieldKey:
			d.Key = text
		case name == fieldContent:
			d.ContentType = text
		case isOurs:
			d.Headers[strings.ToLower(strings.TrimPrefix(name, headerPrefix))] = text
		}
	}
	if !isOurs {
		d.Body, _ = json.Marshal(entry.Values)
	}
	if d.ID == "" {
		d.ID = d.Headers["event-id"]
	}
	if d.ID == "" {
		d.ID = stream + "/" + entry.ID
	}
	return d
}

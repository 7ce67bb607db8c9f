//go:build clouds

package cloud

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

// Attributes that are no headers.
const (
	attributeID      = "id"
	attributeKey     = "key"
	attributeContent = "content-type"
	attributeHeaders = "sluice-headers"
)

// limits are what a cloud takes.
type limits struct {
	bytes      int // of a message
	attributes int // of a message
	value      int // bytes of an attribute
	together   int // bytes of messages that one request may hold; 0: its client sees to it
	isEscaped  bool
}

const longestName = 256

func limitsOf(scheme string) limits {
	switch scheme {
	case config.PubSub:
		return limits{bytes: 10_000_000, attributes: 100, value: 1024}
	case config.SNS, config.SQS:
		return limits{bytes: 256 << 10, attributes: 10, value: 256 << 10, together: 256 << 10, isEscaped: true}
	}
	return limits{bytes: 256 << 10, attributes: 100, value: 32 << 10}
}

// pack makes the attributes of a document. Its error is a Rejected.
func (l limits) pack(d *wire.Document) (map[string]string, error) {
	made := map[string]string{}
	for name, value := range map[string]string{attributeID: d.ID, attributeKey: d.Key, attributeContent: d.ContentType} {
		if value != "" {
			made[name] = value
		}
	}
	most := l.attributes - 1 // one for the headers that do not fit
	if !utf8.Valid(d.Body) {
		most-- // Amazon's client adds one
	}
	packed := map[string]string{}
	for _, name := range byRank(d.Headers) {
		value := d.Headers[name]
		if len(made) < most && isPlain(name) && value != "" {
			made[name] = value
		} else {
			packed[name] = value
		}
	}
	if len(packed) > 0 {
		text, err := json.Marshal(packed)
		if err != nil {
			return nil, wire.Rejected{Err: err}
		}
		made[attributeHeaders] = string(text)
	}
	return made, l.check(d, made)
}

// check says whether a message is one that the cloud takes.
func (l limits) check(d *wire.Document, made map[string]string) error {
	for name, value := range d.Headers {
		if !utf8.ValidString(name) || !utf8.ValidString(value) {
			return wire.Reject("header %.64q is no UTF-8", name)
		}
	}
	for name, value := range made {
		if !utf8.ValidString(value) {
			return wire.Reject("attribute %s is no UTF-8", name)
		}
		if len(value) > l.value {
			return wire.Reject("attribute %s has %d bytes, but the cloud takes %d at most", name, len(value), l.value)
		}
	}
	if size := l.size(d, made); size > l.bytes {
		return wire.Reject("the document has %d bytes with its attributes, but the cloud takes %d at most", size, l.bytes)
	}
	return nil
}

// size is that of a message as the cloud counts it.
func (l limits) size(d *wire.Document, made map[string]string) int {
	size := len(d.Body)
	if l.isEscaped && !utf8.Valid(d.Body) {
		size = size/3*4 + 32
	}
	for name, value := range made {
		if l.isEscaped {
			value = url.QueryEscape(value)
		}
		size += len(name) + len(value) + len("String")
	}
	return size
}

// byRank sorts headers: first those of formats, which other readers look for.
func byRank(headers map[string]string) []string {
	rank := func(name string) string {
		if strings.HasPrefix(name, "ce-") || strings.HasPrefix(name, "event-") {
			return "0" + name
		}
		return "1" + name
	}
	return slices.SortedFunc(maps.Keys(headers), func(a, b string) int { return strings.Compare(rank(a), rank(b)) })
}

// isPlain reports whether all clouds take a name as it is.
func isPlain(name string) bool {
	switch name {
	case "", attributeID, attributeKey, attributeContent, attributeHeaders, "base64encoded":
		return false
	}
	for _, c := range name {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && !strings.ContainsRune("_-.", c) {
			return false
		}
	}
	for _, prefix := range []string{"goog", "aws.", "amazon."} {
		if strings.HasPrefix(name, prefix) {
			return false
		}
	}
	return len(name) <= longestName && !strings.HasPrefix(name, ".") && !strings.HasSuffix(name, ".") && !strings.Contains(name, "..") && !strings.Contains(name, "__0x")
}

// document makes a document of a message. An attribute sluice-headers that cannot be read, which others wrote, is a header.
func document(body []byte, attributes map[string]string) *wire.Document {
	d := &wire.Document{Headers: make(map[string]string, len(attributes)), Body: body}
	for name, value := range attributes {
		switch name {
		case attributeID:
			d.ID = value
		case attributeKey:
			d.Key = value
		case attributeContent:
			d.ContentType = value
		case attributeHeaders:
			continue
		default:
			d.Headers[strings.ToLower(name)] = value
		}
	}
	if text, ok := attributes[attributeHeaders]; ok {
		packed := map[string]string{}
		if json.Unmarshal([]byte(text), &packed) == nil {
			maps.Copy(d.Headers, packed)
		} else {
			d.Headers[attributeHeaders] = text
		}
	}
	return d
}

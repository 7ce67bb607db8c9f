package mqtt

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/eclipse/paho.golang/paho"

	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

const (
	attribute    = "ce-"     // begins the headers that are attributes of CloudEvents, which are user properties without it
	headerPrefix = "header:" // begins the properties of headers that have the name of an attribute
	mostString   = 65535     // bytes of a string of MQTT, at most
)

// attributes are those of CloudEvents that relays write. Others cannot be told from headers.
var attributes = map[string]bool{
	"specversion": true, "id": true, "source": true, "type": true, "subject": true, "time": true, "dataschema": true, "traceparent": true, "tracestate": true,
}

// properties are the user properties of a document.
func properties(headers map[string]string) paho.UserProperties {
	user := make(paho.UserProperties, 0, len(headers))
	isEvent := headers[attribute+"specversion"] != ""
	for name, value := range headers {
		rest, isAttribute := strings.CutPrefix(name, attribute)
		switch {
		case isEvent && isAttribute:
			name = rest
		case isEvent && headers[attribute+name] == value: // such as traceparent
			continue
		case isEvent && attributes[name]:
			name = headerPrefix + name
		}
		user = append(user, paho.UserProperty{Key: name, Value: value})
	}
	return user
}

// headers are those of a document with user properties.
func headers(user paho.UserProperties) map[string]string {
	h := make(map[string]string, len(user))
	isEvent := user.Get("specversion") != ""
	for _, property := range user {
		name := strings.ToLower(property.Key)
		if isEvent && attributes[name] {
			name = attribute + name
		} else if isEvent {
			name = strings.TrimPrefix(name, headerPrefix)
		}
		h[name] = property.Value
	}
	return h
}

// isForbidden reports whether brokers may end the connection at a character: MQTT lets them, and Mosquitto does.
func isForbidden(r rune) bool {
	return unicode.IsControl(r) || r&0xFFFE == 0xFFFE || r >= 0xFDD0 && r <= 0xFDEF
}

// check rejects what MQTT cannot carry.
func check(d *wire.Document) error {
	if d.Address == "" || strings.ContainsAny(d.Address, "+#") {
		return wire.Reject("the topic %.200q is empty or has a wildcard", d.Address)
	}
	if len(d.ID) > mostString {
		return wire.Reject("the id has more than %d bytes", mostString)
	}
	texts := map[string]string{"topic": d.Address, "content type": d.ContentType}
	for name, value := range d.Headers {
		texts["header "+name] = value
		texts["name of header "+name] = headerPrefix + name
	}
	for what, text := range texts {
		if len(text) > mostString {
			return wire.Reject("the %.80s has more than %d bytes", what, mostString)
		}
		if !utf8.ValidString(text) || strings.ContainsFunc(text, isForbidden) {
			return wire.Reject("the %.80s has a control character or is not in UTF-8", what)
		}
	}
	return nil
}

package wire

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"time"
)

// The formats of documents.
const (
	Native            = "native"
	CloudEvents       = "cloudevents"
	CloudEventsBinary = "cloudevents-binary"
	Debezium          = "debezium"
)

// Headers of the native format, beside the publisher's own.
const (
	headerID     = "event-id"
	headerOrigin = "event-source"
	headerType   = "event-type"
	headerKey    = "event-key"
	headerTime   = "event-time"
	headerTrace  = "traceparent"
)

const jsonType = "application/json"

// Encoder makes documents of events.
type Encoder struct {
	Format  string
	Address Template
	ID      *Template // nil: the event's own
	Type    *Template // nil: the event's own
	Key     *Template // nil: the event's own
	Headers map[string]Template
}

// Encode makes the document of an event. Its errors are Rejected.
func (c *Encoder) Encode(e *Event) (*Document, error) {
	if e.Problem != nil && (c.ID == nil || !errors.Is(e.Problem, errNoID)) {
		return nil, e.Problem
	}
	if err := c.rename(e); err != nil {
		return nil, err
	}
	address, err := c.Address.Execute(e)
	if err != nil {
		return nil, err
	}
	d := &Document{Event: e, Address: address, Key: e.Key, ID: e.Unique(), Headers: make(map[string]string, 6+len(e.Headers)), ContentType: jsonType}
	for name, value := range e.Headers {
		d.Headers[strings.ToLower(name)] = value
	}
	if e.Trace != "" {
		d.Headers[headerTrace] = e.Trace
	}
	switch c.Format {
	case CloudEvents:
		d.ContentType, d.Body = "application/cloudevents+json", structured(e)
	case CloudEventsBinary:
		d.Body = e.Body()
		maps.Copy(d.Headers, binary(e))
	case Debezium:
		d.Body = envelope(e)
	default:
		d.Body = e.Body()
		native(d.Headers, e)
	}
	if len(c.Headers) > 0 {
		d.Configured = make(map[string]bool, len(c.Headers))
	}
	for name, value := range c.Headers {
		name = strings.ToLower(name)
		if d.Headers[name], err = value.Execute(e); err != nil {
			return nil, err
		}
		d.Configured[name] = true
	}
	return d, nil
}

// rename gives an event what templates make of it.
func (c *Encoder) rename(e *Event) error {
	var made [3]string
	for i, t := range []*Template{c.ID, c.Type, c.Key} {
		if t != nil {
			var err error
			if made[i], err = t.Execute(e); err != nil {
				return err
			}
		}
	}
	if c.ID != nil {
		if e.ID, e.Problem = made[0], nil; e.ID == "" {
			return errNoID
		}
	}
	if c.Type != nil {
		e.Type = made[1]
	}
	if c.Key != nil {
		e.Key = made[2]
	}
	return nil
}

// Body is the payload of an event, or its row and what happened to that.
func (e *Event) Body() json.RawMessage {
	if e.Row == nil {
		return e.Payload
	}
	return object("op", e.Row.Op, "snapshot", e.Row.Snapshot, "row", e.Row.Data)
}

// SetNative sets the headers of the native format.
func SetNative(headers map[string]string, id, origin, kind, key string) {
	present(headers, headerID, id)
	present(headers, headerOrigin, origin)
	present(headers, headerType, kind)
	present(headers, headerKey, key)
}

func native(headers map[string]string, e *Event) {
	SetNative(headers, e.ID, e.Origin, e.Type, e.Key)
	if !e.Time.IsZero() {
		headers[headerTime] = stamp(e.Time)
	}
}

// binary are the attributes of CloudEvents 1.0 in headers, as its binding for HTTP has them. Other bindings rename them.
func binary(e *Event) map[string]string {
	headers := map[string]string{"ce-specversion": "1.0", "ce-id": e.ID, "ce-source": origin(e), "ce-type": kind(e)}
	present(headers, "ce-subject", e.Key)
	if !e.Time.IsZero() {
		headers["ce-time"] = stamp(e.Time)
	}
	present(headers, "ce-traceparent", e.Trace)
	return headers
}

// structured is the JSON form of CloudEvents 1.0.
func structured(e *Event) []byte {
	attributes := []any{"specversion", "1.0", "id", e.ID, "source", origin(e), "type", kind(e)}
	if e.Key != "" {
		attributes = append(attributes, "subject", e.Key)
	}
	if !e.Time.IsZero() {
		attributes = append(attributes, "time", stamp(e.Time))
	}
	if e.Trace != "" {
		attributes = append(attributes, "traceparent", e.Trace)
	}
	return object(append(attributes, "datacontenttype", jsonType, "data", e.Body())...)
}

// origin is the source of a CloudEvent, which is a URI-reference.
func origin(e *Event) string {
	if e.Origin == "" {
		return "/"
	}
	return reference(e.Origin)
}

func kind(e *Event) string {
	if e.Type == "" {
		return "event"
	}
	return e.Type
}

func present(headers map[string]string, name, value string) {
	if value != "" {
		headers[name] = value
	}
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z07:00") }

// object is a JSON object of names and values, in their order.
func object(members ...any) json.RawMessage {
	b := []byte{'{'}
	for i := 0; i < len(members); i += 2 {
		if i > 0 {
			b = append(b, ',')
		}
		name, _ := json.Marshal(members[i])
		b = append(append(b, name...), ':')
		value, isRaw := members[i+1].(json.RawMessage)
		if !isRaw {
			value, _ = json.Marshal(members[i+1])
		}
		if len(value) == 0 {
			value = json.RawMessage("null")
		}
		b = append(b, value...)
	}
	return append(b, '}')
}

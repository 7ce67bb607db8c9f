package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Decoder makes events of documents.
type Decoder struct {
	Format string
	Origin string // of events that say none, such as the broker's name of the stream
}

// errNoID is the problem of a document without id, which a template may give it.
var errNoID = Reject("the document has no id; id: of the pipeline can make one of its content")

// Decode makes the event of a document. What cannot be read is an event whose Problem says why. Where neither the format nor the broker gives an id, the
// place is one.
func (c Decoder) Decode(d *Document, place Place) *Event {
	e := &Event{Place: place, Raw: d, Key: d.Key, Trace: d.Headers[headerTrace], Headers: map[string]string{}}
	for name, value := range d.Headers {
		if !isOwn(name) {
			e.Headers[name] = value
		}
	}
	if err := c.decode(e, d); err != nil {
		e.Problem = Rejected{err}
	}
	if e.ID == "" {
		e.ID, e.Origin = d.ID, ""
	}
	if e.ID == "" && place.Known {
		e.ID, e.Origin = fmt.Sprintf("%s/%d/%d", place.Topic, place.Partition, place.Offset), c.Origin
	}
	if e.ID == "" && e.Problem == nil {
		e.Problem = errNoID
	}
	return e
}

func (c Decoder) decode(e *Event, d *Document) error {
	switch {
	case c.Format == CloudEvents, c.Format == CloudEventsBinary:
		isStructured := strings.HasPrefix(strings.ToLower(d.ContentType), "application/cloudevents")
		if _, isBinary := d.Headers["ce-specversion"]; isBinary && !isStructured {
			return e.fromBinary(d)
		}
		return e.fromStructured(d.Body)
	case c.Format == Debezium:
		return e.fromEnvelope(d.Body)
	}
	e.ID, e.Origin, e.Type = d.Headers[headerID], d.Headers[headerOrigin], d.Headers[headerType]
	if key := d.Headers[headerKey]; key != "" {
		e.Key = key
	}
	return e.read(d.Headers[headerTime], d.Body)
}

// read takes the time and the payload of an event.
func (e *Event) read(at string, payload []byte) (err error) {
	if at != "" {
		if e.Time, err = time.Parse(time.RFC3339Nano, at); err != nil {
			return fmt.Errorf("the event's time is no time of RFC 3339")
		}
	}
	if !json.Valid(payload) {
		return errors.New("the payload is no JSON")
	}
	e.Payload = payload
	return nil
}

func (e *Event) fromBinary(d *Document) error {
	h := d.Headers
	e.ID, e.Origin, e.Type = h["ce-id"], h["ce-source"], h["ce-type"]
	if h["ce-subject"] != "" {
		e.Key = h["ce-subject"]
	}
	if e.Trace == "" {
		e.Trace = h["ce-traceparent"]
	}
	if e.ID == "" || e.Origin == "" || e.Type == "" {
		return errors.New("a CloudEvents attribute is missing: ce-id, ce-source or ce-type")
	}
	if err := checkAttributes(h["ce-specversion"], e.Origin); err != nil {
		return err
	}
	return e.read(h["ce-time"], d.Body)
}

func checkAttributes(version, source string) error {
	switch {
	case version != "1.0":
		return fmt.Errorf("the CloudEvent has specversion %.20q, but the relay reads 1.0", version)
	case !isReference(source):
		return fmt.Errorf("the source %.200q of the CloudEvent is no URI-reference: percent-encode it", source)
	}
	return nil
}

func (e *Event) fromStructured(body []byte) error {
	var event struct {
		SpecVersion, ID, Source, Type, Subject, Time, TraceParent string
		Data                                                      json.RawMessage
		DataBase64                                                string `json:"data_base64"`
	}
	if err := json.Unmarshal(body, &event); err != nil {
		return errors.New("the document is no CloudEvent in JSON")
	}
	if event.SpecVersion == "" || event.ID == "" || event.Source == "" || event.Type == "" {
		return errors.New("a CloudEvents attribute is missing: specversion, id, source or type")
	}
	if err := checkAttributes(event.SpecVersion, event.Source); err != nil {
		return err
	}
	e.ID, e.Origin, e.Type = event.ID, event.Source, event.Type
	if event.Subject != "" {
		e.Key = event.Subject
	}
	if event.TraceParent != "" {
		e.Trace = event.TraceParent
	}
	data := event.Data
	switch {
	case event.DataBase64 != "":
		data = object("data_base64", event.DataBase64)
	case data == nil:
		data = json.RawMessage("null")
	}
	return e.read(event.Time, data)
}

// isOwn reports whether a header is one that formats write, not the publisher's.
func isOwn(name string) bool {
	switch name {
	case headerID, headerOrigin, headerType, headerKey, headerTime, headerTrace, "content-type":
		return true
	}
	return strings.HasPrefix(name, "ce-")
}

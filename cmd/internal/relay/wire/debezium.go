package wire

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"strconv"
	"strings"
	"time"
)

// Outbox is the table of the outbox that an event was read from.
type Outbox struct {
	Schema, Table string
	IsNamed       bool // the origin is the publisher's header source
}

// envelope is the event as Debezium has a change of a table: of the outbox, which only has inserts, or of the stream table.
func envelope(e *Event) []byte {
	op, before, after := "c", json.RawMessage("null"), json.RawMessage("null")
	switch {
	case e.Row == nil:
		after = outboxRow(e)
	case e.Row.Op == "T":
		op = "t"
	case e.Row.Op == "D":
		op, before = "d", e.Row.Data
	default:
		after = e.Row.Data
		if e.Row.Snapshot {
			op = "r"
		}
	}
	millis := int64(0)
	if !e.Time.IsZero() {
		millis = e.Time.UnixMilli()
	}
	source := []any{"version", "1", "connector", "sluice", "name", cmp.Or(e.Origin, "/"), "ts_ms", millis, "snapshot", "false"}
	table := e.Origin[strings.LastIndexByte(e.Origin, '/')+1:] // of a stream table, or in a broker
	if e.Outbox != nil {
		source, table = append(source, "schema", e.Outbox.Schema), e.Outbox.Table
	}
	source = append(source, "table", table, "event", e.ID)
	return object("before", before, "after", after, "source", object(source...), "op", op, "ts_ms", millis)
}

// outboxRow is the row of an event in an outbox, with the types that Debezium gives its columns: jsonb is a text.
func outboxRow(e *Event) json.RawMessage {
	all := map[string]string{}
	maps.Copy(all, e.Headers)
	present(all, headerTrace, e.Trace)
	if e.Outbox != nil && e.Outbox.IsNamed {
		all["source"] = e.Origin
	}
	headers, _ := json.Marshal(all)
	var id any = e.ID
	if number, err := strconv.ParseInt(e.ID, 10, 64); err == nil && strconv.FormatInt(number, 10) == e.ID {
		id = number
	}
	return object("id", id, "created_at", stamp(e.Time), "event_type", orNull(e.Type), "aggregate_id", orNull(e.Key),
		"payload", string(e.Payload), "headers", string(headers))
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// fromEnvelope reads a change as Debezium has it, with or without its schema. An event of an outbox is its row.
func (e *Event) fromEnvelope(body []byte) error {
	type change struct {
		Before, After, Source json.RawMessage
		Op                    string
		Millis                int64 `json:"ts_ms"`
	}
	var envelope struct {
		Payload *change
		change
	}
	if err := json.Unmarshal(body, &envelope); err != nil {
		return errors.New("the document is no envelope of Debezium")
	}
	c := envelope.change
	if envelope.Payload != nil {
		c = *envelope.Payload
	}
	var source struct{ Connector, Name, Table, Event string }
	if c.Op == "" || json.Unmarshal(c.Source, &source) != nil {
		return errors.New("the document is no envelope of Debezium: it lacks op or source")
	}
	e.Time = time.UnixMilli(c.Millis)
	e.Type = source.Table + "." + map[string]string{"c": "created", "u": "updated", "d": "deleted", "r": "read", "t": "truncated"}[c.Op]
	e.Payload = object("op", c.Op, "before", c.Before, "after", c.After)
	if source.Connector != "sluice" {
		return nil
	}
	e.ID, e.Origin = source.Event, source.Name
	e.fromOutboxRow(c.After)
	return nil
}

// fromOutboxRow reads what outboxRow makes. Another row, such as one of a stream table, changes nothing.
func (e *Event) fromOutboxRow(after json.RawMessage) {
	var row struct {
		Type             json.RawMessage `json:"event_type"` // present, but maybe null
		Key              string          `json:"aggregate_id"`
		Payload, Headers *string
	}
	headers := map[string]string{}
	if json.Unmarshal(after, &row) != nil || row.Type == nil || row.Payload == nil || !json.Valid([]byte(*row.Payload)) ||
		row.Headers == nil || json.Unmarshal([]byte(*row.Headers), &headers) != nil {
		return
	}
	e.Type = ""
	_ = json.Unmarshal(row.Type, &e.Type) // null leaves it empty
	e.Key, e.Payload = row.Key, json.RawMessage(*row.Payload)
	e.Trace = headers[headerTrace]
	delete(headers, headerTrace)
	if headers["source"] == e.Origin {
		delete(headers, "source")
	}
	maps.Copy(e.Headers, headers)
}

package wire

import (
	"testing"
	"time"
)

// TestOutboxRow compares the row of an event with what Debezium makes of it.
func TestOutboxRow(t *testing.T) {
	at := time.UnixMicro(1700000000000001).UTC()
	for _, c := range []struct {
		event *Event
		want  string
	}{
		{
			&Event{ID: "5122", Origin: "/shop/plain", Time: at, Payload: []byte(`{"a": 1.50}`), Outbox: &Outbox{Schema: "pgtrickle", Table: "outbox_plain"}},
			`{"before":null,"after":{"id":5122,"created_at":"2023-11-14T22:13:20.000001Z","event_type":null,"aggregate_id":null,"payload":"{\"a\": 1.50}","headers":"{}"},` +
				`"source":{"version":"1","connector":"sluice","name":"/shop/plain","ts_ms":1700000000000,"snapshot":"false","schema":"pgtrickle","table":"outbox_plain","event":"5122"},` +
				`"op":"c","ts_ms":1700000000000}`,
		},
		{
			&Event{ID: "7", Origin: "/my src/ü", Type: "t", Key: "k", Time: at, Payload: []byte(`null`), Headers: map[string]string{"n": "1"},
				Outbox: &Outbox{Schema: "pgtrickle", Table: "outbox_plain", IsNamed: true}},
			`{"before":null,"after":{"id":7,"created_at":"2023-11-14T22:13:20.000001Z","event_type":"t","aggregate_id":"k","payload":"null","headers":"{\"n\":\"1\",\"source\":\"/my src/ü\"}"},` +
				`"source":{"version":"1","connector":"sluice","name":"/my src/ü","ts_ms":1700000000000,"snapshot":"false","schema":"pgtrickle","table":"outbox_plain","event":"7"},` +
				`"op":"c","ts_ms":1700000000000}`,
		},
	} {
		d, err := (&Encoder{Format: Debezium}).Encode(c.event)
		if err != nil || string(d.Body) != c.want {
			t.Errorf("%v\n%s, not\n%s", err, d.Body, c.want)
		}
		got := Decoder{Format: Debezium}.Decode(d, Place{})
		if got.Problem != nil || got.ID != c.event.ID || got.Origin != c.event.Origin || got.Type != c.event.Type || got.Key != c.event.Key ||
			string(got.Payload) != string(c.event.Payload) || len(got.Headers) != len(c.event.Headers) {
			t.Errorf("%+v of %s", got, d.Body)
		}
	}
}

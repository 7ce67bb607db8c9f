package wire

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
	"time"
)

// random is an event with odd characters, and without what events may lack.
func random(r *rand.Rand) *Event {
	text := func() string {
		letters := []rune("aZ0-_./:é日\"\\<&{}% ")
		out := make([]rune, 1+r.IntN(12))
		for i := range out {
			out[i] = letters[r.IntN(len(letters))]
		}
		return string(out)
	}
	payloads := []string{`null`, `"ä\n"`, `[1.50,1e400]`, `{"a":{"b":[true,null]},"op":"c"}`, `12345678901234567890`}
	e := &Event{ID: text(), Origin: "/" + text(), Type: text(), Time: time.UnixMicro(r.Int64N(4e15)).UTC(), Payload: []byte(payloads[r.IntN(len(payloads))]), Headers: map[string]string{}}
	if r.IntN(2) == 0 {
		e.Key = text()
	}
	if r.IntN(2) == 0 {
		e.Headers[fmt.Sprintf("x-%d", r.IntN(9))] = text()
	}
	if r.IntN(2) == 0 {
		e.Trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	}
	return e
}

// TestRoundTrip encodes and decodes random events in each format.
func TestRoundTrip(t *testing.T) {
	for _, format := range []string{Native, CloudEvents, CloudEventsBinary, Debezium} {
		for seed := range uint64(300) {
			e := random(rand.New(rand.NewPCG(seed, 1)))
			d, err := (&Encoder{Format: format}).Encode(e)
			if err != nil {
				t.Fatal(err)
			}
			got := Decoder{Format: format, Origin: "broker"}.Decode(d, Place{Topic: "t", Known: true})
			if format == Debezium { // it has milliseconds
				e.Time = e.Time.Truncate(time.Millisecond)
			}
			if format == CloudEvents || format == CloudEventsBinary {
				e.Origin = reference(e.Origin)
			}
			if got.Problem != nil || got.ID != e.ID || got.Origin != e.Origin || got.Type != e.Type || got.Key != e.Key || got.Trace != e.Trace ||
				!got.Time.Equal(e.Time) || string(got.Payload) != string(e.Payload) || !maps.Equal(got.Headers, e.Headers) {
				t.Errorf("%s, seed %d:\n%+v\n%+v\n%s", format, seed, e, got, d.Body)
			}
		}
	}
}

// TestDecodeRefuses names what is wrong with documents.
func TestDecodeRefuses(t *testing.T) {
	for _, c := range []struct{ format, body, want string }{
		{Native, `{`, "the payload is no JSON"},
		{CloudEvents, `{`, "the document is no CloudEvent in JSON"},
		{CloudEvents, `{"id": "1", "source": "/", "type": "t"}`, "a CloudEvents attribute is missing: specversion, id, source or type"},
		{CloudEvents, `{"specversion": "1.0", "id": "1", "source": "/", "type": "t", "time": "yesterday"}`, "the event's time is no time of RFC 3339"},
		{CloudEvents, `{"specversion": "0.3", "id": "1", "source": "/", "type": "t"}`, `the CloudEvent has specversion "0.3", but the relay reads 1.0`},
		{CloudEvents, `{"specversion": "1.0", "id": "1", "source": "/my src", "type": "t"}`, `the source "/my src" of the CloudEvent is no URI-reference: percent-encode it`},
		{CloudEventsBinary, `{}`, "a CloudEvents attribute is missing: specversion, id, source or type"},
		{Debezium, `{"before": null}`, "the document is no envelope of Debezium: it lacks op or source"},
		{Native, `{}`, "the document has no id; id: of the pipeline can make one of its content"},
	} {
		e := Decoder{Format: c.format}.Decode(&Document{Body: []byte(c.body), Headers: map[string]string{}}, Place{})
		if e.Problem == nil || e.Problem.Error() != c.want || !IsRejected(e.Problem) {
			t.Errorf("%s: %v", c.body, e.Problem)
		}
	}
}

// TestTemplates makes texts of an event.
func TestTemplates(t *testing.T) {
	e := &Event{ID: "7", Type: "order.placed", Key: "k", Headers: map[string]string{"tenant": "A"}, Payload: []byte(`{"a": {"b": 12345678901234567890}, "list": [1]}`)}
	for text, want := range map[string]string{
		"fixed": "fixed", "{{ .Type }}/{{ .ID }}": "order.placed/7", "{{ .Data.a.b }}": "12345678901234567890", "{{ .Headers.tenant | lower }}": "a",
		`{{ replace "." "-" .Type }}`: "order-placed", `{{ .Origin | default "none" }}`: "none", "{{ index .Data.list 0 }}": "1",
	} {
		template, err := ParseTemplate(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := template.Execute(e); got != want || err != nil {
			t.Errorf("%s: %q %v", text, got, err)
		}
	}
	for _, text := range []string{"{{ .Data.missing }}", "{{ .Headers.missing }}", "{{ .Data.a.b.c }}"} {
		template, err := ParseTemplate(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := template.Execute(e); !IsRejected(err) {
			t.Errorf("%s: %q %v", text, got, err)
		}
	}
}

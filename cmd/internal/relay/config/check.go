package config

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm/diag"
)

// check adds what is wrong with the meaning of a configuration.
func (r *Relay) check(errs *diag.List) {
	if len(r.Pipelines) == 0 && r.Given("pipelines") {
		errs.Add(diag.Error{Pos: r.Field("pipelines"), Code: "no-pipeline", Message: "there is no pipeline", Hint: "add one with name, from and to"})
	}
	names := map[string]diag.Pos{}
	for i := range r.Pipelines {
		p := &r.Pipelines[i]
		at := p.Field("name")
		if first, taken := names[p.Name]; taken {
			errs.Add(diag.Error{Pos: at, Code: "duplicate-name", Message: fmt.Sprintf("a second pipeline has the name %q", p.Name),
				Also: []diag.Note{{Pos: first, Message: "the first one is here"}}})
		}
		names[p.Name] = at
		p.check(errs)
	}
}

func (p *Pipeline) check(errs *diag.List) {
	from, to := one(p.From, p.From.Place, "from", errs), p.To.check("to", errs)
	c := checker{errs}
	c.template(p.Place, "id", p.ID)
	c.template(p.Place, "type", p.Type)
	c.template(p.Place, "key", p.Key)
	for _, text := range p.Headers {
		c.template(p.Place, "headers", text)
	}
	if p.DeadLetters != nil {
		p.DeadLetters.check("dead_letters", errs)
	}
	quarantines := p.To.Inbox != nil && p.To.Inbox.As == AsDocument
	if p.From.Cloud != nil {
		checkCloud(p.From.Cloud.Place, p.From.Cloud.URL, []string{SQS, PubSub, ServiceBus}, errs)
	}
	switch {
	case from == "" || to == "":
	case from == "outbox":
		p.From.Outbox.check(errs)
	case p.DeadLetters == nil && !quarantines && !p.From.Refuses():
		errs.Add(diag.Error{Pos: p.At, Code: "no-dead-letters", Message: fmt.Sprintf("pipeline %s says not where events go that can never be delivered", p.Name),
			Hint: "add dead_letters: with a sink, such as file: {path: dead.jsonl}"})
	case p.Workers > 1:
		errs.Add(diag.Error{Pos: p.Field("workers"), Code: "no-workers", Message: "only a pipeline from an outbox has several workers"})
	}
	if quarantines && from == "outbox" && p.Format == wire.Native {
		errs.Add(diag.Error{Pos: p.To.Inbox.Field("as"), Code: "no-wire-format", Message: "an inbox reads documents of the formats cloudevents and debezium, and this pipeline has native ones",
			Hint: "set format: or leave out as:"})
	}
}

// Refuses reports whether the source itself has a place for events that can never be delivered: a group's dead letters, or the answer to a request.
func (s *Source) Refuses() bool { return s.Outbox != nil || s.Webhook != nil }

func (o *Outbox) check(errs *diag.List) {
	if v := time.Duration(o.Visibility); v < time.Second || v%time.Second != 0 {
		errs.Add(diag.Error{Pos: o.Field("visibility"), Code: "bad-value", Message: "visibility must be a whole number of seconds, 1s at least"})
	}
	if o.PollEvery == 0 {
		errs.Add(diag.Error{Pos: o.Field("poll_every"), Code: "bad-value", Message: "poll_every must be above 0"})
	}
}

func (s *Sink) check(what string, errs *diag.List) string {
	kind := one(*s, s.Place, what, errs)
	c := checker{errs}
	if place, field, text := s.Address(); field != "" {
		c.template(place, field, text)
	}
	switch {
	case kind == "inbox":
		c.template(s.Inbox.Place, "sequence", s.Inbox.Sequence)
		c.template(s.Inbox.Place, "priority", s.Inbox.Priority)
	case kind == "webhook":
		s.Webhook.check(errs)
	case kind == "cloud" && s.Cloud != nil:
		checkCloud(s.Cloud.Place, s.Cloud.URL, []string{SNS, SQS, PubSub, ServiceBus}, errs)
	}
	return kind
}

func (w *Webhook) check(errs *diag.List) {
	head, _, _ := strings.Cut(w.URL, "{{")
	scheme, rest, ok := strings.Cut(head, "://")
	host, _, hasPath := strings.Cut(rest, "/")
	if !ok || scheme != "http" && scheme != "https" || host == "" || !hasPath && head != w.URL {
		errs.Add(diag.Error{Pos: w.Field("url"), Code: "bad-url", Message: "url must begin with http:// or https:// and a host without a template"})
	}
}

// Kind returns which of the fields of a source or sink is given.
func Kind(kinds any) string {
	for v, i := reflect.ValueOf(kinds), 0; i < v.NumField(); i++ {
		if v.Field(i).Kind() == reflect.Pointer && !v.Field(i).IsNil() {
			return v.Type().Field(i).Tag.Get("yaml")
		}
	}
	return ""
}

// one returns which of the fields of a source or sink is given, and complains unless it is one.
func one(kinds any, place spec.Place, what string, errs *diag.List) string {
	v, given, known := reflect.ValueOf(kinds), []string(nil), []string(nil)
	for i := range v.NumField() {
		name := v.Type().Field(i).Tag.Get("yaml")
		if name == "-" {
			continue
		}
		known = append(known, name)
		if !v.Field(i).IsNil() || place.Given(name) {
			given = append(given, name)
		}
	}
	switch len(given) {
	case 1:
		return given[0]
	case 0:
		errs.Add(diag.Error{Pos: place.At, Code: "no-kind", Message: fmt.Sprintf("%s has no kind", what), Hint: "it is one of: " + strings.Join(known, ", ")})
	default:
		errs.Add(diag.Error{Pos: place.At, Code: "several-kinds", Message: fmt.Sprintf("%s has several kinds: %s", what, strings.Join(given, ", ")), Hint: "make a pipeline for each"})
	}
	return ""
}

type checker struct{ errs *diag.List }

func (c checker) template(place spec.Place, field, text string) {
	if _, err := wire.ParseTemplate(text); err != nil {
		c.errs.Add(diag.Error{Pos: place.Field(field), Code: "bad-template", Message: err.Error()})
	}
}

// Address is the template of where documents go within a sink, the field that holds it, and its place.
func (s *Sink) Address() (place spec.Place, field, text string) {
	switch {
	case s.Webhook != nil:
		return s.Webhook.Place, "url", s.Webhook.URL
	case s.Kafka != nil:
		return s.Kafka.Place, "topic", s.Kafka.Topic
	case s.MQTT != nil:
		return s.MQTT.Place, "topic", s.MQTT.Topic
	case s.NATS != nil:
		return s.NATS.Place, "subject", s.NATS.Subject
	case s.RabbitMQ != nil:
		return s.RabbitMQ.Place, "routing_key", s.RabbitMQ.RoutingKey
	case s.Redis != nil:
		return s.Redis.Place, "stream", s.Redis.Stream
	}
	return place, "", ""
}

// Same reports whether two configurations say the same, wherever they say it.
func Same(a, b any) bool { return same(reflect.ValueOf(a), reflect.ValueOf(b)) }

func same(a, b reflect.Value) bool {
	switch {
	case a.Type() == reflect.TypeFor[spec.Place]():
		return true
	case a.Kind() == reflect.Pointer:
		return a.IsNil() == b.IsNil() && (a.IsNil() || same(a.Elem(), b.Elem()))
	case a.Type() == reflect.TypeFor[spec.Text]():
		return a.FieldByName("Value").Equal(b.FieldByName("Value"))
	case a.Kind() == reflect.Struct:
		for i := range a.NumField() {
			if !same(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	case a.Kind() == reflect.Slice:
		for i := range a.Len() {
			if a.Len() != b.Len() || !same(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return a.Len() == b.Len()
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}

package kafka

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/relaytest"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

// event has texts and bytes that are awkward to carry.
func event() *wire.Event {
	return &wire.Event{ID: "7", Origin: "/shop/shop_events", Type: "order.placed", Key: " kéy\r\n\x00\xff\"1 ", Time: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC),
		Headers: map[string]string{"tenant": " a: b;\nc=ü ", "empty": ""}, Payload: json.RawMessage(`{"note":"\u0000 ü \" \n","n":12345678901234567890}`), Trace: "00-1-2-01"}
}

func TestFormatsArrive(t *testing.T) {
	addresses := start(t, 3)
	sink := openSink(t, sinkConfig(addresses))
	address, err := wire.ParseTemplate("events")
	if err != nil {
		t.Fatal(err)
	}
	for i, format := range []string{wire.Native, wire.CloudEvents, wire.CloudEventsBinary, wire.Debezium} {
		encoder := wire.Encoder{Format: format, Address: address}
		sent := event()
		sent.ID = fmt.Sprint(i)
		if format == wire.CloudEvents || format == wire.Debezium { // JSON has no bytes
			sent.Key = strings.ToValidUTF8(sent.Key, "?")
		}
		d, err := encoder.Encode(sent)
		if err != nil {
			t.Fatal(err)
		}
		relaytest.SendAtOnce(t, sink, d)
		source := openSource(t, sourceConfig(addresses), format, 10)
		got := relaytest.Take(t, source, 1)[0]
		if err := source.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got.Problem != nil || got.ID != sent.ID || got.Origin != sent.Origin || got.Type != sent.Type || got.Key != sent.Key || !bytes.Equal(got.Payload, sent.Payload) {
			t.Errorf("%s: %+v of %+v", format, got, sent)
		}
		if got.Raw.Key != d.Key || got.Raw.ContentType != d.ContentType || got.Headers["tenant"] != sent.Headers["tenant"] || got.Trace != sent.Trace {
			t.Errorf("%s: %+v of %+v", format, got.Raw, d)
		}
		if got.Place.Topic != "events" || !got.Place.Known || got.Place.Offset != got.Tag.(*kgo.Record).Offset {
			t.Errorf("%s: %+v", format, got.Place)
		}
		for _, h := range got.Tag.(*kgo.Record).Headers {
			if format == wire.CloudEventsBinary && strings.HasPrefix(h.Key, "ce-") {
				t.Errorf("header %s is named as in HTTP", h.Key)
			}
		}
	}
}

func TestKeysStayInOrder(t *testing.T) {
	keysStayInOrder(t, startFake(t, 5, kfake.NumBrokers(3)).ListenAddrs())
}

func keysStayInOrder(t *testing.T, addresses []string) {
	sink := openSink(t, sinkConfig(addresses))
	if _, ok := sink.(wire.InOrder); !ok {
		t.Fatal("the sink is not InOrder")
	}
	if errs := sink.Send(t.Context(), nil); errs != nil {
		t.Fatalf("no documents: %v", errs)
	}
	all := documents(1, 5000)
	for i := 0; i < len(all); i += 1000 {
		relaytest.SendAtOnce(t, sink, all[i:i+1000]...)
	}
	events := relaytest.Take(t, openSource(t, sourceConfig(addresses), wire.Native, 700), len(all))
	if repeated := inOrder(t, events, all); repeated != 0 {
		t.Errorf("%d documents came again", repeated)
	}
}

func TestCompressionsAndEmptyDocuments(t *testing.T) {
	addresses := start(t, 3)
	source := openSource(t, sourceConfig(addresses), wire.Native, 10)
	for i, name := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
		c := sinkConfig(addresses)
		c.Compression = name
		d := document(i, "")
		d.Body = bytes.Repeat([]byte(" "), 10000)
		relaytest.SendAtOnce(t, openSink(t, c), d, &wire.Document{Address: "events", Body: nil})
		got := relaytest.Take(t, source, 2)
		for _, e := range got {
			if e.Raw.Key != "" || len(e.Raw.Body) != 0 && !bytes.Equal(e.Raw.Body, d.Body) || !wire.IsRejected(e.Problem) {
				t.Errorf("%s: %+v", name, e)
			}
		}
	}
}

func TestRejected(t *testing.T) {
	addresses := start(t, 1)
	c := sinkConfig(addresses)
	c.MaxMessageBytes, c.Topic = 50000, "{{.Type}}"
	sink := openSink(t, c)
	with := func(n int, change func(*wire.Document)) *wire.Document {
		d := document(n, "k")
		change(d)
		return d
	}
	all := []*wire.Document{
		document(0, "k"),
		with(1, func(d *wire.Document) { d.Body = bytes.Repeat([]byte("x"), 60000) }),
		with(2, func(d *wire.Document) { d.Address = "" }),
		with(3, func(d *wire.Document) { d.Address = "a b" }),
		with(4, func(d *wire.Document) { d.Address = strings.Repeat("x", 250) }),
		with(5, func(d *wire.Document) { d.Address = "missing" }),
		document(6, "k"),
		with(7, func(d *wire.Document) { d.Body = bytes.Repeat([]byte("x"), 60000) }),
		document(8, "k"),
	}
	errs := sink.Send(t.Context(), all)
	for i, err := range errs {
		switch i {
		case 0, 6, 8:
			if err != nil {
				t.Errorf("document %d: %v", i, err)
			}
		case 5:
			if err == nil || wire.IsRejected(err) || !strings.Contains(err.Error(), "topic missing does not exist") {
				t.Errorf("document %d: %v", i, err)
			}
		default:
			if !wire.IsRejected(err) {
				t.Errorf("document %d: %v", i, err)
			}
		}
	}
	got := relaytest.Take(t, openSource(t, sourceConfig(addresses), wire.Native, 100), 3)
	relaytest.SameIDs(t, "stored", relaytest.IDs(got), "id-0 id-6 id-8")
	letter := with(9, func(d *wire.Document) { d.Address = "" })
	relaytest.SendAtOnce(t, openSink(t, sinkConfig(addresses)), letter) // to the only topic there is
}

// TestTopicRefusesLargeBatches has a topic that takes less than the client believes: the broker refuses whole batches.
func TestTopicRefusesLargeBatches(t *testing.T) {
	cluster := startFake(t, 2)
	refuseBatches(cluster, 3000, kerr.MessageTooLarge) // as a broker does whose topic has max.message.bytes, which kfake lacks
	refusesLargeBatches(t, cluster.ListenAddrs())
}

func refusesLargeBatches(t *testing.T, addresses []string) {
	c := sinkConfig(addresses)
	c.Compression = "none"
	sink := openSink(t, c)
	random := rand.New(rand.NewSource(2))
	all := documents(2, 200)
	var stored []*wire.Document
	large := map[int]bool{}
	for i, d := range all {
		if random.Intn(20) == 0 {
			d.Body, large[i] = bytes.Repeat([]byte("1"), 4000), true
		} else {
			stored = append(stored, d)
		}
	}
	errs := sink.Send(t.Context(), all)
	for i := range all {
		if large[i] != wire.IsRejected(errs[i]) || !large[i] && errs[i] != nil {
			t.Fatalf("document %d of %d bytes: %v", i, len(all[i].Body), errs[i])
		}
	}
	events := relaytest.Take(t, openSource(t, sourceConfig(addresses), wire.Native, 1000), len(stored))
	if repeated := inOrder(t, events, stored); repeated != 0 {
		t.Errorf("%d documents came again", repeated)
	}
}

// refuseBatches answers requests to store a batch of more bytes with an error.
func refuseBatches(cluster *kfake.Cluster, limit int, refusal *kerr.Error) {
	cluster.ControlKey(int16(kmsg.Produce), func(request kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		produce := request.(*kmsg.ProduceRequest)
		isLarge := false
		for _, topic := range produce.Topics {
			for _, partition := range topic.Partitions {
				isLarge = isLarge || len(partition.Records) > limit
			}
		}
		if !isLarge {
			return nil, nil, false
		}
		response := produce.ResponseKind().(*kmsg.ProduceResponse)
		for _, topic := range produce.Topics {
			answer := kmsg.NewProduceResponseTopic()
			answer.Topic, answer.TopicID = topic.Topic, topic.TopicID
			for _, partition := range topic.Partitions {
				one := kmsg.NewProduceResponseTopicPartition()
				one.Partition, one.ErrorCode = partition.Partition, refusal.Code
				answer.Partitions = append(answer.Partitions, one)
			}
			response.Topics = append(response.Topics, answer)
		}
		return response, nil, true
	})
}

// TestNothingFollowsAFailure fails one batch of a partition for good, while others are buffered behind it.
func TestNothingFollowsAFailure(t *testing.T) {
	cluster := startFake(t, 2)
	c := sinkConfig(cluster.ListenAddrs())
	c.MaxMessageBytes = 20000 // many batches a call
	c.Compression = "none"
	sink := openSink(t, c)
	all := documents(3, 10000)
	var events []*wire.Event
	source := openSource(t, sourceConfig(cluster.ListenAddrs()), wire.Native, 1000)
	requests := 0
	cluster.ControlKey(int16(kmsg.Produce), func(request kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		if requests++; requests%4 != 3 {
			return nil, nil, false
		}
		produce := request.(*kmsg.ProduceRequest)
		response := produce.ResponseKind().(*kmsg.ProduceResponse)
		for _, topic := range produce.Topics {
			answer := kmsg.NewProduceResponseTopic()
			answer.Topic, answer.TopicID = topic.Topic, topic.TopicID
			for _, partition := range topic.Partitions {
				one := kmsg.NewProduceResponseTopicPartition()
				one.Partition, one.ErrorCode = partition.Partition, kerr.PolicyViolation.Code
				answer.Partitions = append(answer.Partitions, one)
			}
			response.Topics = append(response.Topics, answer)
		}
		return response, nil, true
	})
	failures := 0
	for rest := all; len(rest) > 0; {
		errs := sink.Send(t.Context(), rest)
		var again []*wire.Document
		for i, err := range errs {
			if err != nil {
				again = append(again, rest[i])
			}
		}
		if len(again) > 0 {
			failures++
		}
		rest = again
	}
	if failures == 0 {
		t.Fatal("no call failed")
	}
	for len(events) < len(all) {
		events = append(events, relaytest.Take(t, source, 1)...)
	}
	inOrder(t, events, all)
	relaytest.Nothing(t, source)
}

func TestCheckAndLogin(t *testing.T) {
	cluster := startFake(t, 1, kfake.EnableSASL(), kfake.Superuser("PLAIN", "app", "right"), kfake.Superuser("SCRAM-SHA-256", "s256", "right"), kfake.Superuser("SCRAM-SHA-512", "s512", "right"))
	checkLogins(t, cluster.ListenAddrs())
}

func checkLogins(t *testing.T, addresses []string) {
	for _, login := range []config.SASL{{Mechanism: "plain", User: "app"}, {Mechanism: "scram-sha-256", User: "s256"}, {Mechanism: "scram-sha-512", User: "s512"}} {
		c := sinkConfig(addresses)
		c.SASL = &login
		login.Password = "hunter2"
		if _, err := NewSink(t.Context(), c); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s with a wrong password: %v", login.Mechanism, err)
		}
		login.Password = "right"
		sink := openSink(t, c)
		if err := sink.Check(t.Context()); err != nil {
			t.Errorf("%s: %v", login.Mechanism, err)
		}
		relaytest.SendAtOnce(t, sink, document(1, "a"))
		for topic, want := range map[string]string{"none": "topic none does not exist", "a/b": "invalid topic", "{{.Type}}": ""} {
			c.Topic = topic
			if err := openSink(t, c).Check(t.Context()); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("topic %s: %v", topic, err)
			}
		}
	}
}

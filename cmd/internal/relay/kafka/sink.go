package kafka

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

// sink produces documents.
type sink struct {
	c       *config.Kafka
	topic   string // empty unless all documents have the same
	timeout time.Duration
	known   map[string]bool // topics that the client has produced to
	gate    *gate

	mutex  sync.Mutex // what Close uses beside Send
	closed bool
	client *kgo.Client // nil after an error
}

// NewSink connects to brokers.
func NewSink(ctx context.Context, c *config.Kafka) (wire.Sink, error) {
	topic, err := wire.ParseTemplate(c.Topic)
	if err != nil {
		return nil, err
	}
	s := &sink{c: c, timeout: time.Duration(c.Timeout), gate: &gate{}}
	if topic.IsFixed() {
		s.topic = c.Topic
	}
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// open connects unless it has a client.
func (s *sink) open(ctx context.Context) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	switch {
	case s.closed:
		return kgo.ErrClientClosed
	case s.client != nil:
		return nil
	}
	c := s.c
	client, err := connect(ctx, login{c.Brokers, c.TLS, c.SASL, s.gate},
		kgo.RequiredAcks(kgo.AllISRAcks()),                          // of an idempotent producer, which is the default
		kgo.ManualFlushing(), kgo.MaxBufferedRecords(math.MaxInt32), // nothing waits for room while the gate is closed
		kgo.AllowIdempotentProduceCancellation(), // a call that ends early leaves nothing that would be sent later
		kgo.ProducerBatchMaxBytes(int32(c.MaxMessageBytes)), kgo.ProducerBatchCompression(compression(c.Compression)),
		kgo.UnknownTopicRetries(1), kgo.MetadataMinAge(500*time.Millisecond))
	if err == nil {
		s.client, s.known = client, map[string]bool{}
	}
	return err
}

// reset ends the client. It keeps what it knows of topics, such as the id of one that was deleted and created again, and after some errors it never produces
// again.
func (s *sink) reset() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.client != nil {
		s.client.Close()
		s.client = nil
	}
}

func compression(name string) kgo.CompressionCodec {
	switch name {
	case "gzip":
		return kgo.GzipCompression()
	case "lz4":
		return kgo.Lz4Compression()
	case "zstd":
		return kgo.ZstdCompression()
	case "none":
		return kgo.NoCompression()
	}
	return kgo.SnappyCompression()
}

// InOrder holds since the client fails all that is buffered for a partition when one batch of it fails, and the gate keeps it from sending anything of a
// call before all of that is buffered: a document never follows one of its partition that was not stored, except those that are rejected.
func (s *sink) InOrder() {}

// Send produces documents and waits until all in-sync replicas have them.
func (s *sink) Send(ctx context.Context, documents []*wire.Document) []error {
	ctx, cancel := context.WithTimeoutCause(ctx, s.timeout, fmt.Errorf("the broker of Kafka did not confirm documents within %s", s.timeout))
	defer cancel()
	if err := s.open(ctx); err != nil {
		return wire.All(documents, err)
	}
	errs := s.introduce(ctx, documents)
	if slices.ContainsFunc(errs, func(err error) bool { return err != nil && !wire.IsRejected(err) }) {
		s.reset()
	}
	for i, err := range errs {
		errs[i] = explain(ctx, s.topicOf(documents[i]), err)
	}
	if !slices.ContainsFunc(errs, func(err error) bool { return err != nil }) {
		return nil
	}
	return errs
}

// introduce sends the first document to a topic alone, since the client only buffers by partition once it knows those of the topic.
func (s *sink) introduce(ctx context.Context, documents []*wire.Document) []error {
	errs := make([]error, len(documents))
	failed := map[string]bool{}
	var places []int
	var rest []*wire.Document
	for i, d := range documents {
		topic := s.topicOf(d)
		switch {
		case failed[topic]:
			errs[i] = wire.ErrBehind
		case s.known[topic]:
			places, rest = append(places, i), append(rest, d)
		default:
			errs[i] = s.deliver(ctx, documents[i:i+1])[0]
			s.known[topic] = errs[i] == nil
			failed[topic] = errs[i] != nil && !wire.IsRejected(errs[i])
		}
	}
	for i, err := range s.deliver(ctx, rest) {
		errs[places[i]] = err
	}
	return errs
}

// deliver produces documents. A broker refuses a whole batch for one of its documents, such as one that is too large, so what was refused is sent again in
// halves until the one is alone.
func (s *sink) deliver(ctx context.Context, documents []*wire.Document) []error {
	errs := s.produce(ctx, documents)
	var places []int
	var refused []*wire.Document
	for i, err := range errs {
		if isRefusal(err) {
			places, refused = append(places, i), append(refused, documents[i])
		}
	}
	if len(refused) == 1 {
		errs[places[0]] = wire.Rejected{Err: errs[places[0]]}
	}
	if len(refused) < 2 {
		return errs
	}
	half := len(refused) / 2
	again := s.deliver(ctx, refused[:half])
	if slices.ContainsFunc(again, func(err error) bool { return err != nil && !wire.IsRejected(err) }) {
		again = append(again, wire.All(refused[half:], wire.ErrBehind)...)
	} else {
		again = append(again, s.deliver(ctx, refused[half:])...)
	}
	for i, place := range places {
		errs[place] = again[i]
	}
	return errs
}

func (s *sink) produce(ctx context.Context, documents []*wire.Document) []error {
	errs := make([]error, len(documents))
	var confirmed sync.WaitGroup
	s.gate.Lock()
	for i, d := range documents {
		topic := s.topicOf(d)
		if errs[i] = checkTopic(topic); errs[i] != nil {
			continue
		}
		confirmed.Add(1)
		s.client.Produce(ctx, record(topic, d), func(_ *kgo.Record, err error) {
			errs[i] = err
			confirmed.Done()
		})
	}
	s.gate.Unlock()
	// Flush ends when all documents are stored or have failed, as they do when ctx ends.
	if err := s.client.Flush(context.WithoutCancel(ctx)); err != nil {
		return wire.All(documents, err)
	}
	confirmed.Wait()
	return errs
}

// isRefusal reports whether a batch, or a document before it was in one, can never be stored as it is.
func isRefusal(err error) bool {
	return errors.Is(err, kerr.MessageTooLarge) || errors.Is(err, kerr.RecordListTooLarge) || errors.Is(err, kerr.InvalidRecord)
}

func explain(ctx context.Context, topic string, err error) error {
	switch {
	case err == nil, wire.IsRejected(err), errors.Is(err, wire.ErrBehind):
		return err
	case errors.Is(err, kerr.InvalidTopicException):
		return wire.Rejected{Err: err}
	case errors.Is(err, kerr.UnknownTopicOrPartition):
		return fmt.Errorf("topic %s does not exist: create it first", topic)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return fmt.Errorf("could not produce to topic %s: %w", topic, err)
}

// topicOf is where a document goes. Dead letters have no address.
func (s *sink) topicOf(d *wire.Document) string {
	if d.Address == "" {
		return s.topic
	}
	return d.Address
}

func record(topic string, d *wire.Document) *kgo.Record {
	r := &kgo.Record{Topic: topic, Value: d.Body}
	if d.Key != "" {
		r.Key = []byte(d.Key)
	}
	names := make([]string, 0, len(d.Headers))
	for name := range d.Headers {
		names = append(names, name)
	}
	slices.Sort(names)
	r.Headers = make([]kgo.RecordHeader, 0, len(names)+1)
	for _, name := range names {
		own := name
		if attribute, ok := strings.CutPrefix(name, "ce-"); ok { // as CloudEvents' binding for Kafka has it
			own = "ce_" + attribute
		}
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: own, Value: []byte(d.Headers[name])})
	}
	if d.ContentType != "" {
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: "content-type", Value: []byte(d.ContentType)})
	}
	return r
}

func checkTopic(topic string) error {
	isLegal := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r)
	}
	if topic == "" || topic == "." || topic == ".." || len(topic) > 249 || strings.ContainsFunc(topic, func(r rune) bool { return !isLegal(r) }) {
		return wire.Reject("invalid topic %q", topic)
	}
	return nil
}

// Check looks for the topic.
func (s *sink) Check(ctx context.Context) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	if s.topic == "" {
		return ping(ctx, s.client)
	}
	if err := checkTopic(s.topic); err != nil {
		return err
	}
	return exist(ctx, s.client, s.topic)
}

// Close disconnects.
func (s *sink) Close(context.Context) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.closed = true; s.client != nil {
		s.client.Close()
	}
	return nil
}

package redis

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

const (
	transactionSize = 1000      // documents; other clients wait while the server stores them
	defaultLimit    = 512 << 20 // bytes of a value, unless proto-max-bulk-len says otherwise
)

type sink struct {
	client *redis.Client
	stream wire.Template
	most   int64
	limit  int // bytes of a field; 0 until the server has said it
}

// NewSink makes a sink that appends documents to streams.
func NewSink(_ context.Context, c *config.Redis) (wire.Sink, error) {
	stream, err := wire.ParseTemplate(c.Stream)
	if err != nil {
		return nil, err
	}
	client, err := connect(c.URL, c.TLS, time.Duration(c.Timeout))
	if err != nil {
		return nil, err
	}
	return &sink{client: client, stream: stream, most: int64(c.MaxLength)}, nil
}

// InOrder holds since documents are sent in transactions, which the server does as a whole or, out of memory or lost with the connection, not at all. What fails
// inside of one is a key that is no stream, for all documents of that key.
func (s *sink) InOrder() {}

// Send appends documents in transactions, each after the answer to the one before.
func (s *sink) Send(ctx context.Context, documents []*wire.Document) []error {
	if len(documents) == 0 {
		return nil
	}
	if err := s.learnLimit(ctx); err != nil {
		return wire.All(documents, err)
	}
	errs := make([]error, len(documents))
	sound, failed := s.sort(documents, errs), false
	for part := range slices.Chunk(sound, transactionSize) {
		if failed {
			for _, i := range part {
				errs[i] = wire.ErrBehind
			}
			continue
		}
		failed = s.sendPart(ctx, documents, part, errs)
	}
	return errs
}

// sort finds the documents that can be sent, and puts an error for each other.
func (s *sink) sort(documents []*wire.Document, errs []error) []int {
	sound := make([]int, 0, len(documents))
	for i, d := range documents {
		if errs[i] = s.check(d); errs[i] == nil {
			sound = append(sound, i)
		}
	}
	return sound
}

func (s *sink) check(d *wire.Document) error {
	if d.Address == "" {
		return wire.Reject("the name of the stream is empty")
	}
	if len(d.Body) > s.limit {
		return wire.Reject("the document has %d bytes, but the server takes %d at most", len(d.Body), s.limit)
	}
	for name, value := range d.Headers {
		if len(value) > s.limit || len(name) > s.limit {
			return wire.Reject("header %.64s has more bytes than the %d that the server takes at most", name, s.limit)
		}
	}
	return nil
}

func (s *sink) sendPart(ctx context.Context, documents []*wire.Document, part []int, errs []error) (failed bool) {
	added := make([]*redis.StringCmd, len(part))
	_, err := s.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
		for n, i := range part {
			added[n] = p.XAdd(ctx, &redis.XAddArgs{Stream: documents[i].Address, MaxLen: s.most, Approx: s.most > 0, Values: fields(documents[i])})
		}
		return nil
	})
	for n, i := range part {
		if added[n].Err() == nil && added[n].Val() != "" {
			continue
		}
		failed = true
		if errs[i] = added[n].Err(); errs[i] == nil {
			errs[i] = fmt.Errorf("the transaction failed: %w", err)
		}
	}
	return failed
}

// fields are those of an entry, always in the same order, for which Redis needs less memory.
func fields(d *wire.Document) []any {
	list := make([]any, 0, 8+2*len(d.Headers))
	for _, field := range []struct{ name, value string }{{fieldID, d.ID}, {fieldKey, d.Key}, {fieldContent, d.ContentType}} {
		if field.value != "" {
			list = append(list, field.name, field.value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Headers)) {
		list = append(list, fieldOf(name), d.Headers[name])
	}
	return append(list, fieldBody, d.Body)
}

func fieldOf(header string) string {
	switch header {
	case fieldID, fieldKey, fieldContent, fieldBody:
		return headerPrefix + header
	}
	return header
}

// learnLimit asks how long a value may be: the server ends the connection at a longer one.
func (s *sink) learnLimit(ctx context.Context) error {
	if s.limit > 0 {
		return nil
	}
	settings, err := s.client.ConfigGet(ctx, "proto-max-bulk-len").Result()
	if err != nil && !isAnswer(err) {
		return err
	}
	if s.limit, _ = strconv.Atoi(settings["proto-max-bulk-len"]); s.limit <= 0 {
		s.limit = defaultLimit
	}
	return nil
}

// Check says whether the server answers and whether the stream, if its name is fixed, is one or is not there yet.
func (s *sink) Check(ctx context.Context) error {
	if !s.stream.IsFixed() {
		return s.client.Ping(ctx).Err()
	}
	stream, err := s.stream.Execute(nil)
	if err != nil {
		return err
	}
	return checkStream(ctx, s.client, stream)
}

// Close ends the connections.
func (s *sink) Close(context.Context) error { return s.client.Close() }

package redis

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/names"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

// pause is how long the server keeps a read that finds nothing: a stop waits as long.
const pause = 250 * time.Millisecond

// answerTimeout is how long an answer may take: a stop waits as long for a server that does not answer.
const answerTimeout = 5 * time.Second

type source struct {
	client     *redis.Client
	decode     func(*wire.Document, wire.Place) *wire.Event
	streams    []string
	group      string
	consumer   string
	count      int64 // entries of each stream at once
	visibility time.Duration
	claimAt    time.Time
	pending    bool // entries of this consumer may be unacknowledged, which come before new ones
	lease      *lease
	open       context.Context // until Close
	close      func() error
}

// tag is the place of an entry.
type tag struct{ stream, id string }

// NewSource makes a source that reads streams in a consumer group. Several consumers of one group share its entries, without regard to their keys.
func NewSource(ctx context.Context, c *config.RedisSource, decode func(*wire.Document, wire.Place) *wire.Event, batch int) (wire.Source, error) {
	client, err := connect(c.URL, c.TLS, answerTimeout)
	if err != nil {
		return nil, err
	}
	s := &source{client: client, decode: decode, group: c.Group, visibility: time.Duration(c.Visibility), pending: true}
	if s.visibility <= 0 {
		s.visibility = 30 * time.Second
	}
	for _, stream := range c.Streams {
		s.streams = append(s.streams, stream.Value)
	}
	s.count = int64(max(1, batch/max(1, len(s.streams))))
	for _, stream := range s.streams {
		group := wire.GroupOf("redis", client.Options().Addr, s.group, stream)
		if err := s.createGroup(ctx, stream, c.Start == config.Latest && !group.HasBegun()); err != nil {
			_ = client.Close()
			return nil, err
		}
		group.Begin()
	}
	// Two that shared a name would take each other's entries for their own that were left over.
	name, err := names.Take(strings.Join([]string{"redis", client.Options().Addr, c.Group}, "\x00"), c.Consumer, "")
	if err != nil {
		_ = client.Close()
		return nil, err
	}
	s.consumer = name.Text
	var end context.CancelFunc
	s.open, end = context.WithCancel(context.Background())
	s.close = sync.OnceValue(func() error {
		end()
		name.Release()
		return client.Close()
	})
	return s, nil
}

func (s *source) createGroup(ctx context.Context, stream string, latest bool) error {
	start := "0"
	if latest {
		start = "$"
	}
	err := s.client.XGroupCreateMkStream(ctx, stream, s.group, start).Err()
	if err != nil && strings.HasPrefix(err.Error(), "BUSYGROUP") { // exists
		return nil
	}
	return err
}

// Receive returns what this consumer had and did not acknowledge, then what dead consumers left, then new entries.
func (s *source) Receive(ctx context.Context) ([]*wire.Event, error) {
	for ctx.Err() == nil {
		// A read that ended with ctx could have taken entries that nobody gets.
		events, err := s.next(context.WithoutCancel(ctx))
		if err != nil {
			s.pending = true
			return nil, err
		}
		if len(events) > 0 {
			return events, nil
		}
	}
	return nil, ctx.Err()
}

func (s *source) next(ctx context.Context) ([]*wire.Event, error) {
	if err := s.claim(ctx); err != nil {
		return nil, err
	}
	return s.read(ctx)
}

// claim takes over, now and then, the entries that no live consumer holds.
func (s *source) claim(ctx context.Context) error {
	if time.Now().Before(s.claimAt) {
		return nil
	}
	for _, stream := range s.streams {
		if err := s.claimFrom(ctx, stream); err != nil {
			return err
		}
	}
	s.claimAt = time.Now().Add(s.visibility / 2)
	return nil
}

// claimFrom takes the first entries that are idle for long enough. A call looks at some of them only.
func (s *source) claimFrom(ctx context.Context, stream string) error {
	for start := "0"; ; {
		ids, next, err := s.client.XAutoClaimJustID(ctx, &redis.XAutoClaimArgs{
			Stream: stream, Group: s.group, Consumer: s.consumer, MinIdle: s.visibility, Start: start, Count: s.count,
		}).Result()
		if err != nil {
			return err
		}
		s.pending = s.pending || len(ids) > 0
		if start = next; len(ids) > 0 || start == "0-0" {
			return nil
		}
	}
}

func (s *source) read(ctx context.Context) ([]*wire.Event, error) {
	from, block := ">", pause
	if s.pending {
		from, block = "0", -1
	}
	positions := append([]string(nil), s.streams...)
	for range s.streams {
		positions = append(positions, from)
	}
	found, err := s.client.XReadGroup(ctx, &redis.XReadGroupArgs{Group: s.group, Consumer: s.consumer, Streams: positions, Count: s.count, Block: block}).Result()
	if err == redis.Nil {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	events, removed := s.events(found)
	s.pending = s.pending && len(events)+len(removed) > 0
	if len(removed) > 0 {
		slog.Warn("entries were removed from streams of Redis after this group had read them and before they were delivered: they are lost",
			"group", s.group, "entries", len(removed), "first", removed[0].stream+"/"+removed[0].id)
	}
	if err := acknowledge(ctx, s.client, s.group, removed); err != nil {
		return nil, err
	}
	if len(events) > 0 {
		s.lease = hold(s.open, s.client, s.group, s.consumer, events, s.visibility/3)
	}
	return events, nil
}

// events decodes entries. Those that were removed from the stream before they were acknowledged have no fields.
func (s *source) events(found []redis.XStream) (events []*wire.Event, removed []tag) {
	for _, stream := range found {
		for _, entry := range stream.Messages {
			at := tag{stream.Stream, entry.ID}
			if len(entry.Values) == 0 {
				removed = append(removed, at)
				continue
			}
			event := s.decode(document(stream.Stream, entry), wire.Place{})
			event.Tag = at
			events = append(events, event)
		}
	}
	return events, removed
}

// Settle acknowledges what was delivered or rejected. Receive returns the others again, in their order.
func (s *source) Settle(ctx context.Context, events []*wire.Event, outcomes []error) error {
	s.lease.end()
	done := make([]tag, 0, len(events))
	for i, event := range events {
		if outcomes[i] == nil || wire.IsRejected(outcomes[i]) {
			done = append(done, event.Tag.(tag))
		} else {
			s.pending = true
		}
	}
	return acknowledge(ctx, s.client, s.group, done)
}

// Close ends the connections. What was not settled stays with the consumer's name, and goes to the next source of that name or, after the visibility, to others.
func (s *source) Close(context.Context) error { return s.close() }

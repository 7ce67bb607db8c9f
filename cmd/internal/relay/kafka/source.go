package kafka

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

const commitWithin = 30 * time.Second

// source consumes topics as a member of a group. The group is not rebalanced between Receive and Settle, unless that takes longer than its timeout; then the
// brokers refuse the commit, and who has the partitions then gets the events again.
type source struct {
	client *kgo.Client
	batch  int
	decode func(*wire.Document, wire.Place) *wire.Event
}

// NewSource connects to brokers and joins the group.
func NewSource(ctx context.Context, c *config.KafkaSource, decode func(*wire.Document, wire.Place) *wire.Event, batch int) (wire.Source, error) {
	if len(c.Topics) == 0 {
		return nil, errors.New("topics is empty")
	}
	group := wire.GroupOf("kafka", append(values(c.Brokers), c.Group, strings.Join(values(c.Topics), ","))...)
	if err := prepare(ctx, c, c.Start == config.Latest && !group.HasBegun()); err != nil {
		return nil, err
	}
	group.Begin()
	options := []kgo.Opt{
		kgo.ConsumerGroup(c.Group), kgo.ConsumeTopics(values(c.Topics)...), kgo.ConsumeStartOffset(kgo.NewOffset().AtStart()),
		kgo.DisableAutoCommit(), kgo.BlockRebalanceOnPoll(), kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.FetchMaxWait(500 * time.Millisecond), // a partition that is assigned meanwhile waits for as long
		kgo.MetadataMinAge(500 * time.Millisecond),
	}
	if c.RebalanceTimeout > 0 {
		options = append(options, kgo.RebalanceTimeout(time.Duration(c.RebalanceTimeout)))
	}
	client, err := connect(ctx, login{c.Brokers, c.TLS, c.SASL, nil}, options...)
	if err != nil {
		return nil, err
	}
	return &source{client: client, batch: batch, decode: decode}, nil
}

// prepare looks for the topics. A group that begins at their end commits that before it consumes, so that it misses nothing from then on, even if it stops
// before it has consumed anything.
func prepare(ctx context.Context, c *config.KafkaSource, isAtEnd bool) error {
	client, err := connect(ctx, login{c.Brokers, c.TLS, c.SASL, nil})
	if err != nil {
		return err
	}
	defer client.Close()
	topics := values(c.Topics)
	if err := exist(ctx, client, topics...); err != nil || !isAtEnd {
		return err
	}
	if err := beginAtEnd(ctx, kadm.NewClient(client), c.Group, topics); err != nil {
		return fmt.Errorf("could not set where group %s begins: %w", c.Group, err)
	}
	return nil
}

// beginAtEnd commits the ends of partitions that a group without members has committed nothing of.
func beginAtEnd(ctx context.Context, admin *kadm.Client, group string, topics []string) error {
	ctx, cancel := context.WithTimeout(ctx, commitWithin)
	defer cancel()
	groups, err := admin.DescribeGroups(ctx, group)
	if err != nil {
		return err
	}
	if len(groups[group].Members) > 0 {
		return nil
	}
	committed, err := admin.FetchOffsets(ctx, group)
	if err != nil && !errors.Is(err, kerr.GroupIDNotFound) {
		return err
	}
	ends, err := admin.ListEndOffsets(ctx, topics...)
	if err == nil {
		err = ends.Error()
	}
	if err != nil {
		return err
	}
	begin := ends.Offsets()
	for topic, partitions := range committed {
		if _, any := begin[topic]; any && len(partitions) > 0 {
			delete(begin, topic) // partitions that were added since are read from their beginning
		}
	}
	if len(begin) == 0 {
		return nil
	}
	done, err := admin.CommitOffsets(ctx, group, begin)
	if err != nil {
		return err
	}
	return done.Error()
}

// Receive waits for records.
func (s *source) Receive(ctx context.Context) ([]*wire.Event, error) {
	for {
		fetches := s.client.PollRecords(ctx, s.batch)
		var events []*wire.Event
		fetches.EachRecord(func(r *kgo.Record) { events = append(events, s.event(r)) })
		if len(events) > 0 {
			return events, nil
		}
		s.client.AllowRebalance()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for _, failed := range fetches.Errors() {
			return nil, fmt.Errorf("could not fetch from Kafka: %w", failed.Err)
		}
	}
}

func (s *source) event(r *kgo.Record) *wire.Event {
	d := &wire.Document{Address: r.Topic, Key: string(r.Key), Headers: make(map[string]string, len(r.Headers)), Body: r.Value}
	for _, h := range r.Headers {
		name := strings.ToLower(h.Key)
		if attribute, ok := strings.CutPrefix(name, "ce_"); ok {
			name = "ce-" + attribute
		}
		if before, repeated := d.Headers[name]; repeated {
			d.Headers[name] = before + "," + string(h.Value)
		} else {
			d.Headers[name] = string(h.Value)
		}
	}
	d.ContentType = d.Headers["content-type"]
	e := s.decode(d, wire.Place{Topic: r.Topic, Partition: r.Partition, Offset: r.Offset, Known: true})
	e.Tag = r
	return e
}

// Settle commits what precedes the first event of each partition that was not delivered, and goes back to that one.
func (s *source) Settle(ctx context.Context, events []*wire.Event, outcomes []error) error {
	defer s.client.AllowRebalance()
	var done []*kgo.Record
	back := map[string]map[int32]kgo.EpochOffset{}
	for i, e := range events {
		r := e.Tag.(*kgo.Record)
		_, wentBack := back[r.Topic][r.Partition]
		switch {
		case wentBack:
		case outcomes[i] == nil || wire.IsRejected(outcomes[i]):
			done = append(done, r)
		case back[r.Topic] == nil:
			back[r.Topic] = map[int32]kgo.EpochOffset{}
			fallthrough
		default:
			back[r.Topic][r.Partition] = kgo.EpochOffset{Epoch: r.LeaderEpoch, Offset: r.Offset}
		}
	}
	if len(done) > 0 {
		ctx, cancel := context.WithTimeout(ctx, commitWithin)
		defer cancel()
		if err := s.client.CommitRecords(ctx, done...); err != nil {
			return fmt.Errorf("could not commit to Kafka: %w", err)
		}
	}
	if len(back) > 0 {
		s.client.SetOffsets(back)
	}
	return nil
}

// Close leaves the group. What was not committed comes again.
func (s *source) Close(context.Context) error {
	s.client.CloseAllowingRebalance()
	return nil
}

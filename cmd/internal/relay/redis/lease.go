package redis

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

// lease keeps entries from looking abandoned while they are delivered.
type lease struct {
	cancel context.CancelFunc
	ended  chan struct{}
}

func hold(ctx context.Context, client *redis.Client, group, consumer string, events []*wire.Event, every time.Duration) *lease {
	ctx, cancel := context.WithCancel(ctx)
	l := &lease{cancel, make(chan struct{})}
	tags := make([]tag, len(events))
	for i, event := range events {
		tags[i] = event.Tag.(tag)
	}
	go func() {
		defer close(l.ended)
		ticker := time.NewTicker(max(every, time.Millisecond))
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				extend(ctx, client, group, consumer, tags)
			}
		}
	}()
	return l
}

// extend claims a consumer's own entries, which begins their idle time anew. If it fails, others may get them as well.
func extend(ctx context.Context, client *redis.Client, group, consumer string, tags []tag) {
	_, _ = client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for stream, ids := range byStream(tags) {
			p.XClaimJustID(ctx, &redis.XClaimArgs{Stream: stream, Group: group, Consumer: consumer, Messages: ids})
		}
		return nil
	})
}

// end waits until no extension is under way. A nil lease has ended.
func (l *lease) end() {
	if l != nil {
		l.cancel()
		<-l.ended
	}
}

func acknowledge(ctx context.Context, client *redis.Client, group string, tags []tag) error {
	if len(tags) == 0 {
		return nil
	}
	_, err := client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for stream, ids := range byStream(tags) {
			p.XAck(ctx, stream, group, ids...)
		}
		return nil
	})
	return err
}

func byStream(tags []tag) map[string][]string {
	ids := map[string][]string{}
	for _, at := range tags {
		ids[at.stream] = append(ids[at.stream], at.id)
	}
	return ids
}

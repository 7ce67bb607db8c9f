package nats

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

const (
	pullFor     = 30 * time.Second // after which a request ends that found nothing
	heartbeat   = 5 * time.Second
	straggler   = 10 * time.Millisecond // wait for more where the server does not say that there is none
	otherPuller = 100 * time.Millisecond
)

// Receive waits for a message and returns it with those that are there already.
func (s *source) Receive(ctx context.Context) ([]*wire.Event, error) {
	s.using.Lock()
	defer s.using.Unlock()
	if s.live.Err() != nil {
		return nil, context.Cause(s.live)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.live, func() { cancel(context.Cause(s.live)) })()
	for {
		messages, err := s.pull(ctx)
		if len(messages) > 0 {
			s.hold(messages)
			events := make([]*wire.Event, len(messages))
			for i, m := range messages {
				events[i] = s.event(m)
			}
			return events, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			return nil, err
		}
	}
}

// pull asks for messages once. The server answers as soon as it has any, and then says that these were all.
func (s *source) pull(ctx context.Context) (messages []*nats.Msg, err error) {
	s.pulls++
	reply := fmt.Sprintf("%s.%d", s.inbox, s.pulls)
	body := fmt.Appendf(nil, `{"batch":%d,"no_wait":true,"expires":%d,"idle_heartbeat":%d}`, s.batch, pullFor.Nanoseconds(), heartbeat.Nanoseconds())
	if err := s.conn.PublishRequest(s.request, reply, body); err != nil {
		return nil, fmt.Errorf("could not ask for messages: %w", err)
	}
	for len(messages) < s.batch {
		wait := 2 * heartbeat
		if len(messages) > 0 {
			wait = s.straggler
		}
		m, err := s.next(ctx, wait)
		switch {
		case err != nil && len(messages) > 0:
			return messages, nil
		case err != nil:
			return nil, err
		case !isStatus(m):
			messages = append(messages, m)
		case m.Subject == reply:
			if done, err := ended(ctx, m); done {
				return messages, err
			}
		}
	}
	return messages, nil
}

func (s *source) next(ctx context.Context, wait time.Duration) (*nats.Msg, error) {
	limit, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	m, err := s.arrived.NextMsgWithContext(limit)
	if err != nil && ctx.Err() == nil && limit.Err() != nil {
		return nil, errors.New("the NATS server does not answer requests for messages")
	}
	return m, err
}

// isStatus reports whether a message is one of the server about a request.
func isStatus(m *nats.Msg) bool {
	return len(m.Data) == 0 && m.Reply == "" && m.Header.Get("Status") != ""
}

// ended reports whether a request is over, and why if that is an error.
func ended(ctx context.Context, m *nats.Msg) (bool, error) {
	switch status, description := m.Header.Get("Status"), m.Header.Get("Description"); {
	case status == "100":
		return false, nil
	case status == "408" && strings.Contains(description, "Requests Pending"): // of another relay, which gets the messages
		select {
		case <-ctx.Done():
		case <-time.After(otherPuller):
		}
		return true, nil
	case status == "404", status == "408":
		return true, nil
	case status == "503":
		return true, errors.New("the consumer is gone, or its NATS server cannot be reached")
	default:
		return true, fmt.Errorf("the NATS server refused a request for messages: %s %s", status, description)
	}
}

// headers are those of a message, without the server's own.
func headers(all nats.Header) map[string]string {
	own := make(map[string]string, len(all))
	for name, values := range all {
		if strings.HasPrefix(name, "Nats-") {
			continue
		}
		name, value := strings.ToLower(name), strings.Join(values, ",")
		if strings.HasPrefix(name, attributePrefix) {
			value, _ = wire.DecodeHeader(value) // NATS takes any bytes
		}
		own[name] = value
	}
	return own
}

func (s *source) hold(messages []*nats.Msg) {
	s.mu.Lock()
	s.unsettled = messages
	s.mu.Unlock()
}

// extend keeps the server from delivering again what is still in progress.
func (s *source) extend() {
	tick := time.NewTicker(max(s.ackWait/3, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-s.open.Done():
			return
		case <-tick.C:
		}
		s.mu.Lock()
		held := s.unsettled
		s.mu.Unlock()
		for _, m := range held {
			_ = s.conn.Publish(m.Reply, progressWord) // the next one may succeed
		}
	}
}

// answer confirms again if the connection was lost meanwhile. A server that stopped at once may have forgotten that it delivered the messages: then it
// does not confirm, and they come again.
func (s *source) answer(ctx context.Context, messages []*nats.Msg, word []byte) error {
	for {
		connections := s.conn.Stats().Reconnects
		err := s.confirm(ctx, messages, word)
		wasConnected := s.conn.IsConnected() && s.conn.Stats().Reconnects == connections
		if err == nil || ctx.Err() != nil || wasConnected {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// confirm answers messages and waits for the server, which handles the answers to a consumer in their order, to say that it has the last one.
func (s *source) confirm(ctx context.Context, messages []*nats.Msg, word []byte) error {
	if len(messages) == 0 {
		return nil
	}
	last := len(messages) - 1
	for _, m := range messages[:last] {
		if err := s.conn.Publish(m.Reply, word); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	_, err := s.conn.RequestWithContext(ctx, messages[last].Reply, word)
	return err
}

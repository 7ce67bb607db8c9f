package kafka

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/pgsluice/sluice/cmd/internal/relay/relaytest"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
	"github.com/pgsluice/sluice/generator/spec"
)

func TestSendEndsWithContext(t *testing.T) {
	cluster := startFake(t, 1)
	c := sinkConfig(cluster.ListenAddrs())
	c.Timeout = spec.Duration(300 * time.Millisecond)
	sink := openSink(t, c)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for i, err := range sink.Send(ctx, documents(1, 3)) {
		if !errors.Is(err, context.Canceled) && (i == 0 || !errors.Is(err, wire.ErrBehind)) {
			t.Errorf("%v", err)
		}
	}
	cluster.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		return nil, errors.New("the connection breaks"), true
	})
	begun := time.Now()
	for i, err := range sink.Send(t.Context(), documents(1, 3)) {
		if err == nil || !strings.Contains(err.Error(), "did not confirm") && (i == 0 || !errors.Is(err, wire.ErrBehind)) {
			t.Errorf("%v", err)
		}
	}
	if took := time.Since(begun); took > 3*time.Second {
		t.Errorf("a call of 300 ms took %v", took)
	}
}

// TestSendWhileBrokerIsAway has a broker that hangs, one that was killed, and one whose topic is not known yet.
func TestSendWhileBrokerIsAway(t *testing.T) {
	server := startProcess(t)
	c := sinkConfig(server.addresses())
	c.Timeout = spec.Duration(kind.pace())
	used, unused := openSink(t, c), openSink(t, c)
	relaytest.SendAtOnce(t, used, documents(11, 3)...)
	fails := func(s wire.Sink) {
		t.Helper()
		begun := time.Now()
		errs := s.Send(t.Context(), documents(11, 3))
		if len(errs) != 3 {
			t.Fatalf("%v", errs)
		}
		for _, err := range errs {
			if err == nil || wire.IsRejected(err) {
				t.Errorf("%v", err)
			}
		}
		if took := time.Since(begun); took > kind.pace()+3*time.Second {
			t.Errorf("a call of %v took %v", kind.pace(), took)
		}
	}
	for _, away := range []func(){func() { server.stall(t) }, server.kill} {
		away()
		fails(used)
		fails(unused)
	}
	server.start(t)
	c.Timeout = spec.Duration(10 * time.Second)
	relaytest.SendAtOnce(t, openSink(t, c), documents(11, 3)...)
	for range 50 {
		if used.Send(t.Context(), documents(11, 3)) == nil && unused.Send(t.Context(), documents(11, 3)) == nil {
			return
		}
	}
	t.Fatal("a sink does not find back to the broker")
}

// TestBrokerIsKilled sends the same documents until all are stored, while the broker is killed and started again.
func TestBrokerIsKilled(t *testing.T) {
	server := startProcess(t)
	c := sinkConfig(server.addresses())
	c.Timeout = spec.Duration(kind.pace())
	sink := openSink(t, c)
	all := documents(4, 1000)
	killed := make(chan struct{})
	failures := 0
	for rest, step := all, 0; len(rest) > 0; step++ {
		part := rest[:min(50, len(rest))]
		if step == 10 {
			go func() {
				defer close(killed)
				time.Sleep(2 * time.Millisecond)
				server.kill()
			}()
		}
		errs := sink.Send(t.Context(), part)
		if errs == nil {
			rest = rest[len(part):]
			time.Sleep(time.Millisecond)
			continue
		}
		if failures++; failures == 2 {
			<-killed
			server.start(t)
		}
		for _, err := range errs {
			if wire.IsRejected(err) {
				t.Fatal(err)
			}
		}
	}
	if failures < 2 {
		t.Fatalf("%d calls failed, although the broker was killed", failures)
	}
	events := relaytest.Take(t, openSource(t, sourceConfig(server.addresses()), wire.Native, 500), stored(t, server))
	inOrder(t, events, all)
}

// stored returns how many records the topic has.
func stored(t *testing.T, server process) (n int) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(server.addresses()...))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ends, err := kadm.NewClient(client).ListEndOffsets(t.Context(), "events")
	if err != nil {
		t.Fatal(err)
	}
	ends.Each(func(o kadm.ListedOffset) { n += int(o.Offset) })
	return n
}

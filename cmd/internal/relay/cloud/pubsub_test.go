//go:build clouds

package cloud

import (
	"context"
	"os"
	"testing"

	google "cloud.google.com/go/pubsub/apiv1"
	"cloud.google.com/go/pubsub/apiv1/pubsubpb"
	"cloud.google.com/go/pubsub/pstest"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/relaytest"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

// server is the server of Pub/Sub that all tests use: the client looks for its address once.
var server *pstest.Server

func TestMain(m *testing.M) {
	server = pstest.NewServer()
	_ = os.Setenv("PUBSUB_EMULATOR_HOST", server.Addr)
	code := m.Run()
	_ = server.Close()
	os.Exit(code)
}

// TestPubSub sends to Google's test server of Pub/Sub, receives, and receives again what a closed source had.
func TestPubSub(t *testing.T) {
	const topic, subscription = "projects/p/topics/t", "projects/p/subscriptions/s"
	sink, err := NewSink(relaytest.Context(t), &config.Cloud{URL: "gcppubsub://" + topic})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sink.Close(context.Background()) })
	if err := sink.Check(relaytest.Context(t)); err == nil {
		t.Fatal("a missing topic is checked well")
	}
	create(t, topic, subscription)
	if err := sink.Check(relaytest.Context(t)); err != nil {
		t.Fatal(err)
	}
	open := func() wire.Source {
		source, err := NewSource(relaytest.Context(t), &config.CloudSource{URL: "gcppubsub://" + subscription}, relaytest.Decode(wire.Native), 64)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = source.Close(context.Background()) })
		return source
	}
	events := relaytest.Events(7, 100)
	relaytest.Send(t, sink, relaytest.Documents(t, wire.Native, "", events))
	for _, m := range server.Messages() {
		if m.OrderingKey != m.Attributes["key"] {
			t.Fatalf("ordering key %q of key %q", m.OrderingKey, m.Attributes["key"])
		}
	}
	first := open()
	if _, err := first.Receive(relaytest.Context(t)); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(relaytest.Context(t)); err != nil {
		t.Fatal(err)
	}
	second := open()
	withoutOrder(t, wire.Native, events, relaytest.Collect(t, second, len(events)))
	relaytest.Nothing(t, second)
}

// TestTopicRecreated deletes topic and subscription and creates them again while a sink and a source use them.
func TestTopicRecreated(t *testing.T) {
	const topic, subscription = "projects/p/topics/again", "projects/p/subscriptions/again"
	create(t, topic, subscription)
	sink, err := NewSink(relaytest.Context(t), &config.Cloud{URL: "gcppubsub://" + topic})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sink.Close(context.Background()) })
	open := func() (wire.Source, error) {
		return NewSource(relaytest.Context(t), &config.CloudSource{URL: "gcppubsub://" + subscription}, relaytest.Decode(wire.Native), 64)
	}
	all := relaytest.Documents(t, wire.Native, "", relaytest.Events(10, 40))
	relaytest.Recreated(t, sink, open, all[:20], all[20:], func() {
		publisher, subscriber := clients(t)
		if err := subscriber.DeleteSubscription(relaytest.Context(t), &pubsubpb.DeleteSubscriptionRequest{Subscription: subscription}); err != nil {
			t.Fatal(err)
		}
		if err := publisher.DeleteTopic(relaytest.Context(t), &pubsubpb.DeleteTopicRequest{Topic: topic}); err != nil {
			t.Fatal(err)
		}
		create(t, topic, subscription)
	})
}

func create(t *testing.T, topic, subscription string) {
	t.Helper()
	publisher, subscriber := clients(t)
	if _, err := publisher.CreateTopic(relaytest.Context(t), &pubsubpb.Topic{Name: topic}); err != nil {
		t.Fatal(err)
	}
	if _, err := subscriber.CreateSubscription(relaytest.Context(t), &pubsubpb.Subscription{Name: subscription, Topic: topic, AckDeadlineSeconds: 600}); err != nil {
		t.Fatal(err)
	}
}

func clients(t *testing.T) (*google.PublisherClient, *google.SubscriberClient) {
	t.Helper()
	conn, err := grpc.NewClient(server.Addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	publisher, err := google.NewPublisherClient(relaytest.Context(t), option.WithGRPCConn(conn))
	if err != nil {
		t.Fatal(err)
	}
	subscriber, err := google.NewSubscriberClient(relaytest.Context(t), option.WithGRPCConn(conn))
	if err != nil {
		t.Fatal(err)
	}
	return publisher, subscriber
}

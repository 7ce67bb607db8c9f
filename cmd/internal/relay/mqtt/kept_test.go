package mqtt

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/eclipse/paho.golang/packets"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/relaytest"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
	"github.com/pgsluice/sluice/tests/kit/broker"
)

const kept = `no session has subscribed to topic "a", so the broker kept nothing: subscribe to it first`

// TestNoSubscribers publishes to a topic before somebody subscribes to it, and after.
func TestNoSubscribers(t *testing.T) {
	server := broker.Mosquitto(t)
	broker.NoLeaks(t)
	sink := openSink(t, config.MQTT{URL: "mqtt://" + server.Address()})
	documents := relaytest.Documents(t, wire.Native, "a", events(40, 3))
	for _, err := range sink.Send(relaytest.Context(t), documents) {
		if err == nil || wire.IsRejected(err) || err.Error() != kept {
			t.Fatal(err)
		}
	}
	source := openSource(t, durable(server, "one", "a"), wire.Native, 10)
	relaytest.Send(t, sink, documents)
	relaytest.Collect(t, source, len(documents))
}

// TestNoSubscribersExactlyOnce has a broker that knows when it sends PUBREC, as some do, that it gives a document to nobody.
func TestNoSubscribersExactlyOnce(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	go serve(listener)
	sink := openSink(t, config.MQTT{URL: "mqtt://" + listener.Addr().String(), QoS: 2})
	errs := sink.Send(relaytest.Context(t), relaytest.Documents(t, wire.Native, "a", events(41, 3)))
	for i, err := range errs {
		if (err == nil) != (i == 1) || err != nil && err.Error() != kept {
			t.Error(i, err)
		}
	}
}

// serve answers one connection, and PUBREC of every other packet by 0x10.
func serve(listener net.Listener) {
	conn, err := listener.Accept()
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	for {
		p, err := packets.ReadPacket(conn)
		if err != nil {
			return
		}
		var answer *packets.ControlPacket
		switch received := p.Content.(type) {
		case *packets.Connect:
			answer = packets.NewControlPacket(packets.CONNACK)
		case *packets.Pingreq:
			answer = packets.NewControlPacket(packets.PINGRESP)
		case *packets.Publish:
			answer = packets.NewControlPacket(packets.PUBREC)
			recorded := answer.Content.(*packets.Pubrec)
			if recorded.PacketID = received.PacketID; !strings.Contains(string(received.Payload), `"n":1`) {
				recorded.ReasonCode = noSubscribers
			}
		case *packets.Pubrel:
			answer = packets.NewControlPacket(packets.PUBCOMP)
			answer.Content.(*packets.Pubcomp).PacketID = received.PacketID
		default:
			return
		}
		if _, err := answer.WriteTo(conn); err != nil {
			return
		}
	}
}

// TestForgottenSession has a broker lose the session of a source that is away.
func TestForgottenSession(t *testing.T) {
	var log bytes.Buffer
	defer slog.SetDefault(slog.Default())
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	server := broker.Mosquitto(t)
	for _, c := range []struct {
		isKilled, warns bool
	}{{false, true}, {false, false}, {true, true}, {false, false}} {
		if c.isKilled { // before it has saved anything
			server.Kill()
			server.Start()
		}
		log.Reset()
		source := openSource(t, durable(server, "one", "a"), wire.Native, 10)
		if err := source.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		if warned := strings.Contains(log.String(), "level=WARN") && strings.Contains(log.String(), "client_id=one"); warned != c.warns {
			t.Errorf("%+v: %s", c, log.String())
		}
	}
}

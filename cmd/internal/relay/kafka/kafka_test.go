//go:build kafka

package kafka

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/relaytest"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
	"github.com/pgsluice/sluice/tests/kit/broker"
)

// real gives each test the same broker of Kafka, which takes seconds to start, without what the test before has left there.
type real struct{ server *broker.Process }

func (r real) pace() time.Duration { return 3 * time.Second }

func (r real) addresses() []string { return []string{r.server.Address()} }

func (r real) stall(*testing.T) { r.server.Stall() }

func (r real) kill() { r.server.Kill() }

// start starts a broker that was killed, and waits until it is one again: it listens before that.
func (r real) start(t *testing.T) {
	t.Helper()
	r.server.Start()
	r.await(t)
}

func (r real) await(t *testing.T) {
	t.Helper()
	r.admin(t, func(admin *kadm.Client) {
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
			ends, err := admin.ListEndOffsets(t.Context(), "events")
			if err == nil {
				err = ends.Error()
			}
			if err == nil {
				return
			}
			if time.Now().After(deadline) {
				t.Fatal(err)
			}
		}
	})
}

func (r real) admin(t *testing.T, use func(*kadm.Client)) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(r.server.Address()), kgo.MetadataMinAge(50*time.Millisecond), kgo.UnknownTopicRetries(-1))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	use(kadm.NewClient(client))
}

// fresh leaves nothing but topic events.
func (r real) fresh(t *testing.T, partitions int32, configs map[string]*string) []string {
	t.Helper()
	t.Cleanup(func() { noLeaks(t) }) // the last one
	r.admin(t, func(admin *kadm.Client) {
		eventually := func(what string, f func() error) {
			t.Helper()
			for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
				err := f()
				if err == nil {
					return
				}
				if time.Now().After(deadline) {
					t.Fatalf("%s: %v", what, err)
				}
			}
		}
		eventually("group", func() error {
			if _, err := admin.DeleteGroup(t.Context(), "relay"); !errors.Is(err, kerr.GroupIDNotFound) {
				return err
			}
			return nil
		})
		if _, err := admin.DeleteTopic(t.Context(), "events"); err != nil && !errors.Is(err, kerr.UnknownTopicOrPartition) {
			t.Fatal(err)
		}
		eventually("topic", func() error {
			_, err := admin.CreateTopic(t.Context(), partitions, 1, configs, "events")
			return err
		})
	})
	r.await(t)
	return r.addresses()
}

// kafkas is a kind of brokers.
type kafkas struct{ real }

func (k kafkas) start(t *testing.T, partitions int32) []string {
	t.Helper()
	return k.fresh(t, partitions, nil)
}

func (k kafkas) process(t *testing.T) process {
	t.Helper()
	k.fresh(t, 3, nil)
	return k.real
}

// TestKafka runs the tests against Kafka itself, but those that have kfake answer as no broker does at the test's command.
func TestKafka(t *testing.T) {
	login, encrypted := broker.Port(t), broker.Port(t)
	server := broker.Kafka(t, login, encrypted, "sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
		"listener.name.sasl_plaintext.scram-sha-256.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;",
		"listener.name.sasl_plaintext.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;")
	all := kafkas{real{server}}
	kind = all
	defer func() { kind = fake{} }()
	for _, test := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"Formats", TestFormatsArrive}, {"Compressions", TestCompressionsAndEmptyDocuments}, {"Rejected", TestRejected}, {"Unsettled", TestUnsettledComeAgain},
		{"Partitions", TestPartitionsGoBackAlone}, {"Few", TestFewComePromptly}, {"Start", TestStartAtEnd}, {"Rebalance", TestRebalance},
		{"Lost", TestLostPartitions}, {"Ends", TestReceiveEnds}, {"Order", func(t *testing.T) { keysStayInOrder(t, start(t, 5)) }},
		{"Large", func(t *testing.T) {
			refusesLargeBatches(t, all.fresh(t, 2, map[string]*string{"max.message.bytes": kadm.StringPtr("3000")}))
		}},
		{"Login", func(t *testing.T) { all.login(t, login) }}, {"TLS", func(t *testing.T) { all.tls(t, encrypted) }},
		{"Recreated", TestTopicRecreated}, {"Away", TestSendWhileBrokerIsAway}, {"Killed", TestBrokerIsKilled}, {"Source", TestSourceSurvivesKill},
	} {
		t.Run(test.name, test.run)
	}
}

func (k kafkas) login(t *testing.T, port string) {
	k.fresh(t, 1, nil)
	k.admin(t, func(admin *kadm.Client) {
		answers, err := admin.AlterUserSCRAMs(t.Context(), nil, []kadm.UpsertSCRAM{
			{User: "s256", Mechanism: kadm.ScramSha256, Iterations: 4096, Password: "right"},
			{User: "s512", Mechanism: kadm.ScramSha512, Iterations: 4096, Password: "right"},
		})
		if err == nil {
			err = answers.Error()
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	checkLogins(t, []string{"127.0.0.1:" + port})
}

func (k kafkas) tls(t *testing.T, port string) {
	k.fresh(t, 1, nil)
	c, from := sinkConfig([]string{"localhost:" + port}), sourceConfig([]string{"localhost:" + port})
	c.TLS = &config.TLS{CA: k.server.Certificate()}
	from.TLS = c.TLS
	relaytest.SendAtOnce(t, openSink(t, c), document(1, "a"))
	relaytest.SameIDs(t, "by TLS", relaytest.IDs(relaytest.Take(t, openSource(t, from, wire.Native, 10), 1)), "id-1")
	c.TLS = &config.TLS{}
	if _, err := NewSink(t.Context(), c); err == nil || !strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("an unknown authority: %v", err)
	}
	c = sinkConfig([]string{"127.0.0.1:" + port})
	c.TLS = from.TLS
	if _, err := NewSink(t.Context(), c); err == nil || !strings.Contains(err.Error(), "127.0.0.1") {
		t.Errorf("another name than the certificate's: %v", err)
	}
	c.TLS = nil
	if _, err := NewSink(t.Context(), c); err == nil {
		t.Error("connected without TLS")
	}
}

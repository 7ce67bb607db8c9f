//go:build brokers

package relay

import (
	"fmt"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/redis/go-redis/v9"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	brokers "github.com/pgsluice/sluice/tests/kit/broker"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestChaosOfBrokers is the chaos of brokers that are programs of their own. Those whose consumers share a queue without regard to keys have one relay that
// reads.
func TestChaosOfBrokers(t *testing.T) {
	for name, through := range map[string]func(t *testing.T) passage{"kafka": throughKafka, "redis": throughRedis, "rabbitmq": throughRabbitMQ, "mqtt": throughMosquitto} {
		t.Run(name, func(t *testing.T) {
			pgtest.Parallel(t)
			through(t).run(t, database(t), database(t))
		})
	}
}

// restart kills a broker and starts it again.
func restart(server *brokers.Process) func() {
	return func() {
		server.Kill()
		time.Sleep(100 * time.Millisecond)
		server.Start()
	}
}

func throughKafka(t *testing.T) passage {
	server := brokers.Kafka(t, brokers.Port(t), brokers.Port(t))
	client, err := kgo.NewClient(kgo.SeedBrokers(server.Address()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	pgtest.Until(t, "the topic is created", func() bool {
		topic, err := kadm.NewClient(client).CreateTopic(t.Context(), 3, 1, map[string]*string{"max.message.bytes": kadm.StringPtr("3000")}, "events")
		return err == nil && topic.Err == nil
	})
	address := "brokers: ['" + server.Address() + "']"
	return passage{
		sink: "kafka: {" + address + ", topic: '{{ .Data.to }}', timeout: 2s, compression: none}", source: "kafka: {" + address + ", topics: [events], group: relay, rebalance_timeout: 5s}",
		writers: 2, readers: 2, kills: 1, kill: restart(server), good: `{"to": "events"}`,
		poison: []string{"{}", `{"to": "events/a"}`, `{"to": "missing"}`, fmt.Sprintf(`{"to": "events", "large": "%04000d"}`, 0)},
	}
}

func throughRedis(t *testing.T) passage {
	server := brokers.Redis(t)
	client := redis.NewClient(&redis.Options{Addr: server.Address()})
	defer func() { _ = client.Close() }()
	if err := client.Set(t.Context(), "text", "no stream", 0).Err(); err != nil {
		t.Fatal(err)
	}
	url := "redis: {url: 'redis://" + server.Address() + "'"
	return passage{
		sink: url + ", stream: '{{ .Data.to }}', timeout: 2s}", source: url + ", streams: [events], group: relay, consumer: in, visibility: 1s}",
		writers: 2, readers: 1, kill: restart(server), good: `{"to": "events"}`, poison: []string{"{}", `{"to": ""}`, `{"to": "text"}`},
	}
}

func throughRabbitMQ(t *testing.T) passage {
	server := brokers.RabbitMQ(t)
	url := "amqp://guest:guest@" + server.Address()
	connection, err := amqp.Dial(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = connection.Close() }()
	channel, err := connection.Channel()
	if err == nil {
		_, err = channel.QueueDeclare("events", true, false, false, false, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return passage{
		sink: "rabbitmq: {url: '" + url + "', routing_key: '{{ .Data.to }}', timeout: 2s}", source: "rabbitmq: {url: '" + url + "', queue: events}",
		writers: 2, readers: 1, kill: restart(server), good: `{"to": "events"}`, poison: []string{"{}", fmt.Sprintf(`{"to": "%0300d"}`, 0), `{"to": "nowhere"}`},
	}
}

// throughMosquitto has a broker that confirms before it writes to disk.
func throughMosquitto(t *testing.T) passage {
	server := brokers.Mosquitto(t, "max_queued_messages 0")
	url := "mqtt: {url: 'mqtt://" + server.Address() + "'"
	return passage{
		sink: url + ", topic: '{{ .Data.to }}', timeout: 2s}", source: url + ", topics: ['events/#'], client_id: in}",
		writers: 2, readers: 1, quiesces: true, good: `{"to": "events/a"}`, poison: []string{"{}", `{"to": "events/#"}`, `{"to": "nobody/a"}`},
		kill: func() {
			server.Save()
			restart(server)()
		},
	}
}

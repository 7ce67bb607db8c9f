package config

import "github.com/pgsluice/sluice/generator/spec"

// Values of Start.
const (
	Earliest = "earliest"
	Latest   = "latest"
)

// Kafka publishes documents to topics.
type Kafka struct {
	spec.Place      `yaml:"-"`
	Brokers         []spec.Text   `yaml:"brokers" jsonschema:"required" jsonschema_description:"Addresses of brokers to begin with, host:port."`
	TLS             *TLS          `yaml:"tls" jsonschema_description:"Connects with TLS, by these certificates; {} trusts the system's authorities. Default: no TLS."`
	SASL            *SASL         `yaml:"sasl" jsonschema_description:"Authenticates; default: not at all."`
	Topic           string        `yaml:"topic" jsonschema:"required,minLength=1" jsonschema_description:"Template of the topic."`
	Compression     string        `yaml:"compression" jsonschema:"default=snappy,enum=none,enum=gzip,enum=snappy,enum=lz4,enum=zstd" jsonschema_description:"How batches are compressed."`
	MaxMessageBytes int           `yaml:"max_message_bytes" jsonschema:"default=1000012,minimum=1024,maximum=1073741824" jsonschema_description:"Bytes of a document, at most, before compression; topics that take larger ones have max.message.bytes."`
	Timeout         spec.Duration `yaml:"timeout" jsonschema:"default=30s" jsonschema_description:"How long brokers may take to store documents. Until then the client repeats requests without making duplicates."`
}

// KafkaSource consumes topics in a consumer group.
type KafkaSource struct {
	spec.Place       `yaml:"-"`
	Brokers          []spec.Text   `yaml:"brokers" jsonschema:"required" jsonschema_description:"Addresses of brokers to begin with, host:port."`
	TLS              *TLS          `yaml:"tls" jsonschema_description:"Connects with TLS, by these certificates; {} trusts the system's authorities. Default: no TLS."`
	SASL             *SASL         `yaml:"sasl" jsonschema_description:"Authenticates; default: not at all."`
	Topics           []spec.Text   `yaml:"topics" jsonschema:"required" jsonschema_description:"The topics, which must exist."`
	Group            string        `yaml:"group" jsonschema:"required,minLength=1" jsonschema_description:"The consumer group. Several relays share one."`
	Start            string        `yaml:"start" jsonschema:"default=earliest,enum=earliest,enum=latest" jsonschema_description:"Where a group begins that has committed nothing. Partitions that are added later are read from their beginning."`
	RebalanceTimeout spec.Duration `yaml:"rebalance_timeout" jsonschema:"default=1m" jsonschema_description:"How long other members of the group wait for a batch in progress before they take over its partitions."`
}

// SASL authenticates to Kafka.
type SASL struct {
	spec.Place `yaml:"-"`
	Mechanism  string `yaml:"mechanism" jsonschema:"required,enum=plain,enum=scram-sha-256,enum=scram-sha-512" jsonschema_description:"The mechanism; plain sends the password, so use it with TLS."`
	User       string `yaml:"user" jsonschema:"required,minLength=1" jsonschema_description:"The user."`
	Password   string `yaml:"password" jsonschema:"required,minLength=1" jsonschema_description:"The password."`
}

// MQTT publishes events to topics of a broker of MQTT 5.
type MQTT struct {
	spec.Place `yaml:"-"`
	URL        string        `yaml:"url" jsonschema:"required,minLength=1" jsonschema_description:"The broker: mqtt, mqtts, ws or wss."`
	ClientID   string        `yaml:"client_id" jsonschema:"minLength=1" jsonschema_description:"This client's name, which no other has at the same time; default: one that the broker gives."`
	User       string        `yaml:"user" jsonschema:"minLength=1" jsonschema_description:"User; default: that of the URL."`
	Password   string        `yaml:"password" jsonschema:"minLength=1" jsonschema_description:"Password; default: that of the URL."`
	Topic      string        `yaml:"topic" jsonschema:"required,minLength=1" jsonschema_description:"Template of the topic."`
	QoS        int           `yaml:"qos" jsonschema:"default=1,enum=1,enum=2" jsonschema_description:"Quality of service: at least once, or exactly once as long as the connection lasts."`
	Retain     bool          `yaml:"retain" jsonschema:"default=false" jsonschema_description:"The broker keeps the last event of each topic for those who subscribe later."`
	Timeout    spec.Duration `yaml:"timeout" jsonschema:"default=30s" jsonschema_description:"How long the broker may take to confirm events."`
	TLS        TLS           `yaml:"tls" jsonschema_description:"Certificates, for mqtts and wss."`
}

// MQTTSource takes events from topics of a broker of MQTT 5. The broker keeps them for the client while it is away.
type MQTTSource struct {
	spec.Place    `yaml:"-"`
	URL           string        `yaml:"url" jsonschema:"required,minLength=1" jsonschema_description:"The broker: mqtt, mqtts, ws or wss."`
	ClientID      string        `yaml:"client_id" jsonschema:"required,minLength=1" jsonschema_description:"This client's name, which no other has at the same time; the broker keeps events by it."`
	User          string        `yaml:"user" jsonschema:"minLength=1" jsonschema_description:"User; default: that of the URL."`
	Password      string        `yaml:"password" jsonschema:"minLength=1" jsonschema_description:"Password; default: that of the URL."`
	Topics        []spec.Text   `yaml:"topics" jsonschema:"required" jsonschema_description:"Filters of topics, such as shop/#; $share/group/shop/# for several relays that share events."`
	QoS           int           `yaml:"qos" jsonschema:"default=1,enum=1,enum=2" jsonschema_description:"Quality of service, at most: events that were published with less have less."`
	SessionExpiry spec.Duration `yaml:"session_expiry" jsonschema:"default=7d" jsonschema_description:"How long the broker keeps events for the client while it is away."`
	TLS           TLS           `yaml:"tls" jsonschema_description:"Certificates, for mqtts and wss."`
}

// NATS publishes documents to streams of JetStream.
type NATS struct {
	spec.Place `yaml:"-"`
	URL        string        `yaml:"url" jsonschema:"required,minLength=1" jsonschema_description:"URLs of servers, separated by commas, such as nats://127.0.0.1:4222."`
	Creds      string        `yaml:"creds" jsonschema:"minLength=1" jsonschema_description:"File with the user's JWT and seed."`
	User       string        `yaml:"user" jsonschema:"minLength=1" jsonschema_description:"The user."`
	Password   string        `yaml:"password" jsonschema:"minLength=1" jsonschema_description:"The user's password."`
	Token      string        `yaml:"token" jsonschema:"minLength=1" jsonschema_description:"Token that authenticates."`
	NKey       string        `yaml:"nkey" jsonschema:"minLength=1" jsonschema_description:"File with the seed of an NKey."`
	TLS        *TLS          `yaml:"tls" jsonschema_description:"Connects with TLS, by these certificates; default: if the server requires it."`
	Subject    string        `yaml:"subject" jsonschema:"required,minLength=1" jsonschema_description:"Template of the subject, which a stream must have."`
	Stream     string        `yaml:"stream" jsonschema:"minLength=1" jsonschema_description:"The stream that must store the documents; default: the one that has the subject. Its duplicate_window is how long it recognises a repeated document."`
	Timeout    spec.Duration `yaml:"timeout" jsonschema:"default=10s" jsonschema_description:"How long the server may take to store a document."`
}

// NATSSource consumes a stream of JetStream.
type NATSSource struct {
	spec.Place    `yaml:"-"`
	URL           string        `yaml:"url" jsonschema:"required,minLength=1" jsonschema_description:"URLs of servers, separated by commas, such as nats://127.0.0.1:4222."`
	Creds         string        `yaml:"creds" jsonschema:"minLength=1" jsonschema_description:"File with the user's JWT and seed."`
	User          string        `yaml:"user" jsonschema:"minLength=1" jsonschema_description:"The user."`
	Password      string        `yaml:"password" jsonschema:"minLength=1" jsonschema_description:"The user's password."`
	Token         string        `yaml:"token" jsonschema:"minLength=1" jsonschema_description:"Token that authenticates."`
	NKey          string        `yaml:"nkey" jsonschema:"minLength=1" jsonschema_description:"File with the seed of an NKey."`
	TLS           *TLS          `yaml:"tls" jsonschema_description:"Connects with TLS, by these certificates; default: if the server requires it."`
	Stream        string        `yaml:"stream" jsonschema:"required,minLength=1" jsonschema_description:"The stream, which must exist."`
	Consumer      string        `yaml:"consumer" jsonschema:"required,minLength=1" jsonschema_description:"Name of the durable consumer, which is created or updated. Several relays share one."`
	Subjects      []spec.Text   `yaml:"subjects" jsonschema_description:"Subjects that are taken; default: all of the stream."`
	Start         string        `yaml:"start" jsonschema:"default=earliest,enum=earliest,enum=latest" jsonschema_description:"Where a consumer begins that is created."`
	AckWait       spec.Duration `yaml:"ack_wait" jsonschema:"default=30s" jsonschema_description:"After a crash documents in progress come again when it is over; it is extended while the sink is slow."`
	MaxAckPending int           `yaml:"max_ack_pending" jsonschema:"default=1000,minimum=1,maximum=1000000" jsonschema_description:"Documents in progress at once, of all relays. With 1 the order is kept even after a crash."`
}

// RabbitMQ publishes events to an exchange.
type RabbitMQ struct {
	spec.Place `yaml:"-"`
	URL        string        `yaml:"url" jsonschema:"required,minLength=1" jsonschema_description:"The broker and its virtual host: amqp or amqps."`
	Exchange   string        `yaml:"exchange" jsonschema_description:"The exchange; default: the one that has a queue for each routing key."`
	RoutingKey string        `yaml:"routing_key" jsonschema:"required" jsonschema_description:"Template of the routing key. An event that no queue takes is tried again."`
	Timeout    spec.Duration `yaml:"timeout" jsonschema:"default=30s" jsonschema_description:"How long the broker may take to confirm events."`
	TLS        TLS           `yaml:"tls" jsonschema_description:"Certificates, for amqps."`
}

// RabbitMQSource takes events from a queue. The queue keeps their order for one consumer only.
type RabbitMQSource struct {
	spec.Place `yaml:"-"`
	URL        string `yaml:"url" jsonschema:"required,minLength=1" jsonschema_description:"The broker and its virtual host: amqp or amqps."`
	Queue      string `yaml:"queue" jsonschema:"required,minLength=1" jsonschema_description:"The queue, which exists."`
	Prefetch   int    `yaml:"prefetch" jsonschema:"minimum=1,maximum=65535" jsonschema_description:"Events that the broker sends ahead, at most; default: batch."`
	TLS        TLS    `yaml:"tls" jsonschema_description:"Certificates, for amqps."`
}

// Redis appends events to streams.
type Redis struct {
	spec.Place `yaml:"-"`
	URL        string        `yaml:"url" jsonschema:"required,minLength=1" jsonschema_description:"The server and its database: redis, or rediss with TLS. Not a cluster."`
	Stream     string        `yaml:"stream" jsonschema:"required,minLength=1" jsonschema_description:"Template of the stream's name."`
	MaxLength  int           `yaml:"max_length" jsonschema:"minimum=1" jsonschema_description:"Entries that a stream keeps, or some more; the oldest are removed, read or not; default: all."`
	Timeout    spec.Duration `yaml:"timeout" jsonschema:"default=10s" jsonschema_description:"How long an answer may take."`
	TLS        TLS           `yaml:"tls" jsonschema_description:"Certificates, for rediss."`
}

// RedisSource takes events from streams, by a consumer group of Redis.
type RedisSource struct {
	spec.Place `yaml:"-"`
	URL        string        `yaml:"url" jsonschema:"required,minLength=1" jsonschema_description:"The server and its database: redis, or rediss with TLS. Not a cluster."`
	Streams    []spec.Text   `yaml:"streams" jsonschema:"required" jsonschema_description:"The streams, which are created where they are missing."`
	Group      string        `yaml:"group" jsonschema:"required,minLength=1" jsonschema_description:"The consumer group. Several relays share one."`
	Consumer   string        `yaml:"consumer" jsonschema:"minLength=1" jsonschema_description:"This process's name in the group, which no other has at the same time; default: the host's, with a number for a second relay of the host."`
	Start      string        `yaml:"start" jsonschema:"default=earliest,enum=earliest,enum=latest" jsonschema_description:"Where a group begins that is created."`
	Visibility spec.Duration `yaml:"visibility" jsonschema:"default=30s" jsonschema_description:"How long after a crash others get the events that this process had taken."`
	TLS        TLS           `yaml:"tls" jsonschema_description:"Certificates, for rediss."`
}

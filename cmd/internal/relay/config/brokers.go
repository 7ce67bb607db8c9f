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

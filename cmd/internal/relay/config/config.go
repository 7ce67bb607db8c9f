// Package config reads relay.yaml: pipelines from a source to a sink, with the positions of what is wrong.
//
// Files call downwards: load, check, config.
package config

import "github.com/pgsluice/sluice/generator/spec"

// Relay is a configuration: what one process moves.
type Relay struct {
	spec.Place `yaml:"-"`
	Version    int        `yaml:"version" jsonschema:"required,enum=1" jsonschema_description:"Version of this format: 1."`
	Database   string     `yaml:"database" jsonschema:"minLength=1" jsonschema_description:"URL or key=value string of the database that outboxes and inboxes are in; default: --dsn, or the environment variable DATABASE_URL."`
	Schema     string     `yaml:"schema" jsonschema:"default=pgtrickle,minLength=1,maxLength=63" jsonschema_description:"Schema of the extension."`
	Listen     string     `yaml:"listen" jsonschema:"minLength=1" jsonschema_description:"Address that serves /metrics, /healthz and /readyz, such as 127.0.0.1:9464; default: none."`
	Pipelines  []Pipeline `yaml:"pipelines" jsonschema:"required" jsonschema_description:"What is moved."`
}

// Pipeline moves events from one source to one sink.
type Pipeline struct {
	spec.Place  `yaml:"-"`
	Name        string        `yaml:"name" jsonschema:"required,minLength=1,maxLength=63" jsonschema_description:"Names the pipeline in logs, in metrics and as a consumer."`
	From        Source        `yaml:"from" jsonschema:"required" jsonschema_description:"Where events come from: one of the kinds."`
	To          Sink          `yaml:"to" jsonschema:"required" jsonschema_description:"Where events go: one of the kinds."`
	Format      string        `yaml:"format" jsonschema:"default=native,enum=native,enum=cloudevents,enum=cloudevents-binary,enum=debezium" jsonschema_description:"How events look outside of the database."`
	ID          string        `yaml:"id" jsonschema:"minLength=1" jsonschema_description:"Template of the id that repeated deliveries are recognised by; default: the event's own."`
	Type        string        `yaml:"type" jsonschema:"minLength=1" jsonschema_description:"Template of the type; default: the event's own."`
	Key         string        `yaml:"key" jsonschema:"minLength=1" jsonschema_description:"Template of the key that events are kept in order by; default: the event's own."`
	Headers     spec.Texts    `yaml:"headers" jsonschema_description:"Templates of headers that are added."`
	Batch       int           `yaml:"batch" jsonschema:"default=500,minimum=1,maximum=100000" jsonschema_description:"Events that are taken at once, at most."`
	Workers     int           `yaml:"workers" jsonschema:"default=1,minimum=1,maximum=64" jsonschema_description:"Batches that are sent at once. Events of an outbox without an ordering key are in order with one only."`
	Retry       Retry         `yaml:"retry" jsonschema_description:"How often an event that was not delivered is sent again, and the pauses between."`
	StopWithin  spec.Duration `yaml:"stop_within" jsonschema:"default=20s" jsonschema_description:"How long a stop may take in all, of which the last quarter, five seconds at most, is kept to give back what is left."`
	DeadLetters *Sink         `yaml:"dead_letters" jsonschema_description:"Where events go that can never be delivered; default: the dead letters of the consumer group. Required where the source is no outbox."`
}

// Retry is how often an event is tried, and how long to wait before another attempt. The pause doubles each time.
type Retry struct {
	spec.Place `yaml:"-"`
	Attempts   int           `yaml:"attempts" jsonschema:"default=20,minimum=1,maximum=1000000" jsonschema_description:"Attempts to deliver an event that the sink refuses while it takes others, after which it is a dead letter."`
	First      spec.Duration `yaml:"first" jsonschema:"default=100ms" jsonschema_description:"The first pause."`
	Longest    spec.Duration `yaml:"longest" jsonschema:"default=30s" jsonschema_description:"The longest pause."`
}

// Source is where events come from: one of its fields is given.
type Source struct {
	spec.Place `yaml:"-"`
	Outbox     *Outbox         `yaml:"outbox" jsonschema_description:"An outbox, by a consumer group."`
	File       *FileSource     `yaml:"file" jsonschema_description:"A file with a JSON document in each line, or standard input."`
	Webhook    *WebhookSource  `yaml:"webhook" jsonschema_description:"Requests that others send, each with a document."`
	Kafka      *KafkaSource    `yaml:"kafka" jsonschema_description:"Topics of Kafka, by a consumer group."`
	MQTT       *MQTTSource     `yaml:"mqtt" jsonschema_description:"Topics of a broker of MQTT 5."`
	NATS       *NATSSource     `yaml:"nats" jsonschema_description:"A stream of NATS JetStream, by a durable consumer."`
	RabbitMQ   *RabbitMQSource `yaml:"rabbitmq" jsonschema_description:"A queue of RabbitMQ."`
	Redis      *RedisSource    `yaml:"redis" jsonschema_description:"Streams of Redis."`
	Cloud      *CloudSource    `yaml:"cloud" jsonschema_description:"A queue of Amazon SQS, Google Pub/Sub or Azure Service Bus, in a binary that was built with -tags clouds."`
}

// Sink is where events go: one of its fields is given.
type Sink struct {
	spec.Place `yaml:"-"`
	Inbox      *Inbox    `yaml:"inbox" jsonschema_description:"An inbox, of this database or another."`
	File       *FileSink `yaml:"file" jsonschema_description:"A file that gets a JSON document in each line."`
	Stdout     *Stdout   `yaml:"stdout" jsonschema_description:"Standard output, a JSON document in each line."`
	Null       *Null     `yaml:"discard" jsonschema_description:"Nothing: events are acknowledged and forgotten."`
	Webhook    *Webhook  `yaml:"webhook" jsonschema_description:"An HTTP endpoint that gets a request for each event."`
	Kafka      *Kafka    `yaml:"kafka" jsonschema_description:"Topics of Kafka."`
	MQTT       *MQTT     `yaml:"mqtt" jsonschema_description:"Topics of a broker of MQTT 5."`
	NATS       *NATS     `yaml:"nats" jsonschema_description:"Streams of NATS JetStream."`
	RabbitMQ   *RabbitMQ `yaml:"rabbitmq" jsonschema_description:"An exchange of RabbitMQ."`
	Redis      *Redis    `yaml:"redis" jsonschema_description:"Streams of Redis."`
	Cloud      *Cloud    `yaml:"cloud" jsonschema_description:"A topic or queue of Amazon SNS or SQS, Google Pub/Sub or Azure Service Bus, in a binary that was built with -tags clouds."`
}

// Values of Outbox.Unit.
const (
	UnitDelta = "delta"
	UnitRow   = "row"
)

// Outbox takes events from an outbox of the database.
type Outbox struct {
	spec.Place    `yaml:"-"`
	Name          string        `yaml:"name" jsonschema:"required,minLength=1" jsonschema_description:"The outbox's or the stream table's name."`
	Group         string        `yaml:"group" jsonschema:"required,minLength=1,maxLength=63" jsonschema_description:"The consumer group. Several relays share one."`
	Consumer      string        `yaml:"consumer" jsonschema:"minLength=1" jsonschema_description:"This process's name in the group, which no other has at the same time; default: the host's and the pipeline's, with a number for a second relay of the host."`
	Origin        string        `yaml:"origin" jsonschema:"minLength=1" jsonschema_description:"What events say where they come from; default: the header source of each, or else /<extension>/<outbox>."`
	Create        string        `yaml:"create" jsonschema:"enum=latest,enum=earliest" jsonschema_description:"Creates the group where it is missing, to begin there; default: a missing group is an error."`
	EventTypes    []spec.Text   `yaml:"event_types" jsonschema_description:"Types of events that are taken; default: all."`
	Visibility    spec.Duration `yaml:"visibility" jsonschema:"default=30s" jsonschema_description:"Lease of a batch, which is extended while the sink is slow; after a crash others get the events when it is over."`
	PollEvery     spec.Duration `yaml:"poll_every" jsonschema:"default=1s" jsonschema_description:"Pause between polls that find nothing; a notification ends it."`
	Unit          string        `yaml:"unit" jsonschema:"default=delta,enum=delta,enum=row" jsonschema_description:"Of a stream table: an event for each refresh, in parts where it is large, or one for each changed row."`
	MaxPartRows   int           `yaml:"max_part_rows" jsonschema:"default=1000,minimum=1,maximum=100000" jsonschema_description:"Rows of one part of a refresh, at most."`
	MaxPartBytes  int           `yaml:"max_part_bytes" jsonschema:"default=524288,minimum=1,maximum=1073741824" jsonschema_description:"Bytes of one part of a refresh, at most, unless one row has more."`
	Notifications bool          `yaml:"notifications" jsonschema:"default=true" jsonschema_description:"Listens for new events. Needs a connection that no transaction-pooling proxy shares: false behind one."`
}

// Values of Inbox.As.
const (
	AsEvent    = "event"
	AsDocument = "document"
)

// Inbox stores events in an inbox, each id once.
type Inbox struct {
	spec.Place `yaml:"-"`
	Name       string `yaml:"name" jsonschema:"required,minLength=1" jsonschema_description:"The inbox's name."`
	Database   string `yaml:"database" jsonschema:"minLength=1" jsonschema_description:"URL or key=value string of its database; default: that of the relay."`
	Schema     string `yaml:"schema" jsonschema:"minLength=1,maxLength=63" jsonschema_description:"Schema of its extension; default: that of the relay."`
	As         string `yaml:"as" jsonschema:"default=event,enum=event,enum=document" jsonschema_description:"event: the relay reads documents. document: an inbox with wire_format reads them itself, and keeps in quarantine those it cannot."`
	Sequence   string `yaml:"sequence" jsonschema:"minLength=1" jsonschema_description:"Template of the sequence, of an inbox with ordering by one."`
	Priority   string `yaml:"priority" jsonschema:"minLength=1" jsonschema_description:"Template of the priority, of an inbox whose senders give one."`
}

// FileSource reads documents from a file.
type FileSource struct {
	spec.Place `yaml:"-"`
	Path       string `yaml:"path" jsonschema:"required,minLength=1" jsonschema_description:"The file; - is standard input."`
	State      string `yaml:"state" jsonschema:"minLength=1" jsonschema_description:"File that keeps how far it was read; default: the path with .offset. Standard input has none."`
	Follow     bool   `yaml:"follow" jsonschema:"default=false" jsonschema_description:"Waits for more lines at the end."`
}

// FileSink appends documents to a file.
type FileSink struct {
	spec.Place `yaml:"-"`
	Path       string `yaml:"path" jsonschema:"required,minLength=1" jsonschema_description:"The file, which is created with mode 0600."`
}

// Stdout prints documents.
type Stdout struct {
	spec.Place `yaml:"-"`
}

// Null forgets documents.
type Null struct {
	spec.Place `yaml:"-"`
}

// Webhook sends a request for each event.
type Webhook struct {
	spec.Place  `yaml:"-"`
	URL         string        `yaml:"url" jsonschema:"required,minLength=1" jsonschema_description:"Template of the URL, http or https. Host and scheme hold no template."`
	Method      string        `yaml:"method" jsonschema:"default=POST,enum=POST,enum=PUT,enum=PATCH" jsonschema_description:"The request's method."`
	Headers     spec.Texts    `yaml:"headers" jsonschema_description:"Headers of each request, such as Authorization."`
	Secret      string        `yaml:"secret" jsonschema:"minLength=1" jsonschema_description:"Signs requests as Standard Webhooks has it: whsec_ and base64, or any text."`
	Timeout     spec.Duration `yaml:"timeout" jsonschema:"default=10s" jsonschema_description:"How long an answer may take."`
	Concurrency int           `yaml:"concurrency" jsonschema:"default=8,minimum=1,maximum=1000" jsonschema_description:"Requests at once; those of one key follow each other."`
	TLS         TLS           `yaml:"tls" jsonschema_description:"Certificates."`
}

// WebhookSource receives a request for each event, and answers when the sink has it.
type WebhookSource struct {
	spec.Place `yaml:"-"`
	Listen     string        `yaml:"listen" jsonschema:"required,minLength=1" jsonschema_description:"Address, such as 127.0.0.1:8080."`
	Path       string        `yaml:"path" jsonschema:"default=/,minLength=1" jsonschema_description:"The path of requests; others are answered by 404."`
	Secret     string        `yaml:"secret" jsonschema:"minLength=1" jsonschema_description:"Requests must be signed with it, as Standard Webhooks has it."`
	MaxBytes   int           `yaml:"max_bytes" jsonschema:"default=1048576,minimum=1,maximum=1073741824" jsonschema_description:"Size of a request's body, at most."`
	Timeout    spec.Duration `yaml:"timeout" jsonschema:"default=10s" jsonschema_description:"How long a request waits for the sink, before it is answered by 503."`
	TLS        TLS           `yaml:"tls" jsonschema_description:"The server's certificate and key; ca: those that clients must have."`
}

// TLS are certificates of a connection. The other side's is always verified.
type TLS struct {
	spec.Place `yaml:"-"`
	CA         string `yaml:"ca" jsonschema:"minLength=1" jsonschema_description:"File with the certificates of authorities that are trusted beside the system's."`
	Cert       string `yaml:"cert" jsonschema:"minLength=1" jsonschema_description:"File with the client's certificate."`
	Key        string `yaml:"key" jsonschema:"minLength=1" jsonschema_description:"File with the client's key."`
}

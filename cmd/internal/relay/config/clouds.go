package config

import (
	"slices"
	"strings"

	"github.com/pgsluice/sluice/generator/spec"
	"github.com/pgsluice/sluice/ivm/diag"
)

// Cloud sends documents to a topic or queue of a cloud. Credentials come from the environment, as the cloud's own clients have it.
type Cloud struct {
	spec.Place `yaml:"-"`
	URL        string        `yaml:"url" jsonschema:"required,minLength=1" jsonschema_description:"The topic or queue: awssns:///ARN?region=REGION, awssqs://HOST/ACCOUNT/QUEUE?region=REGION, gcppubsub://projects/PROJECT/topics/TOPIC or azuresb://TOPIC."`
	MaxBytes   int           `yaml:"max_bytes" jsonschema:"minimum=1024,maximum=1073741824" jsonschema_description:"Bytes of a document and its attributes, at most; default: 262144, of Pub/Sub 10000000."`
	Timeout    spec.Duration `yaml:"timeout" jsonschema:"default=30s" jsonschema_description:"How long the cloud may take to store documents."`
}

// CloudSource takes documents from a queue or a subscription of a cloud.
type CloudSource struct {
	spec.Place `yaml:"-"`
	URL        string `yaml:"url" jsonschema:"required,minLength=1" jsonschema_description:"The queue or subscription: awssqs://HOST/ACCOUNT/QUEUE?region=REGION, gcppubsub://projects/PROJECT/subscriptions/SUBSCRIPTION or azuresb://TOPIC?subscription=SUBSCRIPTION."`
}

// Schemes of the URLs of clouds.
const (
	SNS        = "awssns"
	SQS        = "awssqs"
	PubSub     = "gcppubsub"
	ServiceBus = "azuresb"
)

func checkCloud(place spec.Place, url string, schemes []string, errs *diag.List) {
	scheme, rest, _ := strings.Cut(url, "://")
	host, _, _ := strings.Cut(rest, "/")
	either := strings.Join(schemes[:len(schemes)-1], "://, ") + ":// or " + schemes[len(schemes)-1]
	if rest == "" || strings.Contains(host, "@") || !slices.Contains(schemes, scheme) {
		errs.Add(diag.Error{Pos: place.Field("url"), Code: "bad-url", Message: "url must begin with " + either + ":// and hold no credentials",
			Hint: "credentials come from the environment"})
	}
}

//go:build clouds

package cloud

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"

	servicebus "github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	google "cloud.google.com/go/pubsub/apiv1"
	"cloud.google.com/go/pubsub/apiv1/pubsubpb"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	snstypes "github.com/aws/aws-sdk-go-v2/service/sns/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"gocloud.dev/pubsub"
	_ "gocloud.dev/pubsub/awssnssqs" // awssns, awssqs
	_ "gocloud.dev/pubsub/azuresb"   // azuresb
	_ "gocloud.dev/pubsub/gcppubsub" // gcppubsub

	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

// Available says that this binary has clients of clouds.
func Available() error { return nil }

// parse reads a URL. Its error does not show the URL, which may come from a reference.
func parse(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.User != nil {
		return nil, errors.New("the url of the queue cannot be read, or holds credentials, which come from the environment")
	}
	return u, nil
}

// concealed is an error without the URL that it is about and without the values of its parameters.
func concealed(u *url.URL, err error) error {
	text := strings.ReplaceAll(err.Error(), u.String(), "the queue")
	for _, values := range u.Query() {
		for _, value := range values {
			if value != "" {
				text = strings.ReplaceAll(text, value, "…")
			}
		}
	}
	return errors.New(text)
}

// mark gives a message what a cloud orders messages by, and recognises repeated ones by, beside its attributes.
func mark(u *url.URL, d *wire.Document) func(as func(any) bool) error {
	isFIFO := strings.HasSuffix(u.Path, ".fifo")
	return func(as func(any) bool) error {
		var toSNS *snstypes.PublishBatchRequestEntry
		var toSQS *sqstypes.SendMessageBatchRequestEntry
		var toGoogle *pubsubpb.PubsubMessage
		var toAzure *servicebus.Message
		id, group := short(d.ID), short(d.Key)
		if isFIFO && group == "" {
			group = id
		}
		switch {
		case isFIFO && as(&toSNS):
			toSNS.MessageDeduplicationId, toSNS.MessageGroupId = &id, &group
		case isFIFO && as(&toSQS):
			toSQS.MessageDeduplicationId, toSQS.MessageGroupId = &id, &group
		case as(&toGoogle):
			if toGoogle.OrderingKey = d.Key; len(d.Key) > 1024 {
				toGoogle.OrderingKey = group
			}
		case as(&toAzure):
			toAzure.MessageID = &id
			if group != "" {
				toAzure.SessionID = &group
			}
		}
		return nil
	}
}

// short is a text that clouds take as an id: 128 characters of ASCII at most. Another is replaced by its hash.
func short(text string) string {
	isShort := len(text) <= 128
	for _, c := range text {
		isShort = isShort && c > ' ' && c < 127
	}
	if isShort {
		return text
	}
	return fmt.Sprintf("sha256-%x", sha256.Sum256([]byte(text)))
}

// messageID is the id that the cloud gave a message.
func messageID(m *pubsub.Message) string {
	var ofSQS sqstypes.Message
	var ofGoogle *pubsubpb.PubsubMessage
	var ofAzure *servicebus.ReceivedMessage
	switch {
	case m.As(&ofSQS) && ofSQS.MessageId != nil:
		return *ofSQS.MessageId
	case m.As(&ofGoogle):
		return ofGoogle.MessageId
	case m.As(&ofAzure):
		return ofAzure.MessageID
	}
	return ""
}

// look asks the cloud for a topic or queue.
func look(ctx context.Context, u *url.URL, topic *pubsub.Topic) (err error) {
	var toSNS *sns.Client
	var toSQS *sqs.Client
	var toGoogle *google.PublisherClient
	var toAzure *servicebus.Sender
	name := strings.TrimPrefix(path.Join(u.Host, u.Path), "/")
	switch {
	case topic.As(&toSNS):
		_, err = toSNS.GetTopicAttributes(ctx, &sns.GetTopicAttributesInput{TopicArn: &name})
	case topic.As(&toSQS):
		name = "https://" + name
		_, err = toSQS.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &name, AttributeNames: []sqstypes.QueueAttributeName{sqstypes.QueueAttributeNameQueueArn}})
	case topic.As(&toGoogle):
		if !strings.HasPrefix(name, "projects/") { // the short form
			name = "projects/" + u.Host + "/topics/" + strings.TrimPrefix(u.Path, "/")
		}
		_, err = toGoogle.GetTopic(ctx, &pubsubpb.GetTopicRequest{Topic: name})
	case topic.As(&toAzure):
		_, err = toAzure.NewMessageBatch(ctx, nil)
	}
	return err
}

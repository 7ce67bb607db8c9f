//go:build clouds

package cloud

import (
	"context"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"gocloud.dev/gcerrors"
	"gocloud.dev/pubsub"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

const (
	defaultTimeout = 30 * time.Second
	atOnce         = 100 // documents under way
	perRequest     = 10  // documents that a client puts into one request, where the size of requests is limited
)

type sink struct {
	topic   *pubsub.Topic
	url     *url.URL
	limits  limits
	timeout time.Duration
}

// NewSink makes a sink that sends documents to a topic or queue.
func NewSink(ctx context.Context, c *config.Cloud) (wire.Sink, error) {
	u, err := parse(c.URL)
	if err != nil {
		return nil, err
	}
	topic, err := pubsub.OpenTopic(ctx, c.URL)
	if err != nil {
		return nil, concealed(u, err)
	}
	s := &sink{topic: topic, url: u, limits: limitsOf(u.Scheme), timeout: time.Duration(c.Timeout)}
	if c.MaxBytes > 0 {
		s.limits.bytes = c.MaxBytes
	}
	if s.timeout <= 0 {
		s.timeout = defaultTimeout
	}
	return s, nil
}

// Send sends documents at once, which the client puts into requests. Large ones, of which a request takes few, follow one by one. The client has one error for
// all documents of a request of which any was refused: they are sent again, each by itself, and only one that is then refused is rejected.
func (s *sink) Send(ctx context.Context, documents []*wire.Document) []error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	errs := make([]error, len(documents))
	attributes := make([]map[string]string, len(documents))
	var alone []int
	var sending sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for i, d := range documents {
		if attributes[i], errs[i] = s.limits.pack(d); errs[i] != nil {
			continue
		}
		if s.limits.together > 0 && s.limits.size(d, attributes[i]) > s.limits.together/perRequest {
			alone = append(alone, i)
			continue
		}
		slots <- struct{}{}
		sending.Go(func() {
			defer func() { <-slots }()
			errs[i] = s.send(ctx, d, attributes[i])
		})
	}
	sending.Wait()
	for i, err := range errs {
		if isRefusal(err) || err != nil && partial.MatchString(err.Error()) {
			alone = append(alone, i)
		}
	}
	for _, i := range alone {
		if errs[i] = s.send(ctx, documents[i], attributes[i]); isRefusal(errs[i]) {
			errs[i] = wire.Rejected{Err: errs[i]}
		}
	}
	return errs
}

// partial matches an error of a batch of SNS or SQS that some of its messages failed in: their number and the code of the first one.
var partial = regexp.MustCompile(`^.*failed for \d+ message\(s\): (\w*)`)

// isRefusal reports whether an error blames the content of a message.
func isRefusal(err error) bool {
	if err == nil {
		return false
	}
	failed := partial.FindStringSubmatch(err.Error())
	return gcerrors.Code(err) == gcerrors.InvalidArgument || failed != nil && strings.Contains(failed[1], "Invalid")
}

func (s *sink) send(ctx context.Context, d *wire.Document, attributes map[string]string) error {
	return s.topic.Send(ctx, &pubsub.Message{Body: d.Body, Metadata: attributes, BeforeSend: mark(s.url, d)})
}

// Check asks the cloud for the topic or queue, which needs a right of its own.
func (s *sink) Check(ctx context.Context) error { return look(ctx, s.url, s.topic) }

// Close waits for what is under way and ends the connections.
func (s *sink) Close(ctx context.Context) error { return s.topic.Shutdown(ctx) }

// Package kafka moves documents to and from topics of Kafka.
package kafka

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/tlsconfig"
	"github.com/pgsluice/sluice/generator/spec"
)

const (
	connectWithin = 15 * time.Second
	dialWithin    = 5 * time.Second
)

// login is how to connect to brokers.
type login struct {
	brokers []spec.Text
	tls     *config.TLS
	sasl    *config.SASL
	gate    *gate
}

// connect makes a client and tries whether a broker answers.
func connect(ctx context.Context, l login, more ...kgo.Opt) (*kgo.Client, error) {
	if len(l.brokers) == 0 {
		return nil, errors.New("brokers is empty")
	}
	options := []kgo.Opt{kgo.ClientID("sluice-relay"), kgo.DisableClientMetrics(), kgo.SeedBrokers(values(l.brokers)...)}
	dial := (&net.Dialer{Timeout: dialWithin}).DialContext
	if l.tls != nil {
		settings, err := tlsconfig.Client(*l.tls)
		if err != nil {
			return nil, err
		}
		dial = (&tls.Dialer{NetDialer: &net.Dialer{Timeout: dialWithin}, Config: settings}).DialContext
	}
	if l.sasl != nil {
		options = append(options, authentication(l.sasl))
	}
	client, err := kgo.NewClient(append(append(options, kgo.Dialer(l.gate.through(dial))), more...)...)
	if err != nil {
		return nil, err
	}
	if err := ping(ctx, client); err != nil {
		client.Close()
		return nil, err
	}
	return client, nil
}

func authentication(c *config.SASL) kgo.Opt {
	switch c.Mechanism {
	case "scram-sha-256":
		return kgo.SASL(scram.Auth{User: c.User, Pass: c.Password}.AsSha256Mechanism())
	case "scram-sha-512":
		return kgo.SASL(scram.Auth{User: c.User, Pass: c.Password}.AsSha512Mechanism())
	}
	return kgo.SASL(plain.Auth{User: c.User, Pass: c.Password}.AsMechanism())
}

func ping(ctx context.Context, client *kgo.Client) error {
	ctx, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	if err := client.Ping(ctx); err != nil {
		return fmt.Errorf("could not connect to Kafka: %w", err)
	}
	return nil
}

// exist checks that topics do.
func exist(ctx context.Context, client *kgo.Client, topics ...string) error {
	ctx, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	details, err := kadm.NewClient(client).ListTopics(ctx, topics...)
	if err != nil {
		return fmt.Errorf("could not look up topics: %w", err)
	}
	for _, topic := range topics {
		switch err := details[topic].Err; {
		case errors.Is(err, kerr.UnknownTopicOrPartition):
			return fmt.Errorf("topic %s does not exist: create it first", topic)
		case err != nil:
			return fmt.Errorf("could not look up topic %s: %w", topic, err)
		}
	}
	return nil
}

func values(texts []spec.Text) (all []string) {
	for _, t := range texts {
		all = append(all, t.Value)
	}
	return all
}

// Package kafka moves documents to and from topics of Kafka.
package kafka

import (
	"context"
	"errors"
	"fmt"
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

const connectWithin = 15 * time.Second

// connect makes a client and tries whether a broker answers.
func connect(ctx context.Context, brokers []spec.Text, certificates *config.TLS, login *config.SASL, more ...kgo.Opt) (*kgo.Client, error) {
	if len(brokers) == 0 {
		return nil, errors.New("brokers is empty")
	}
	options := []kgo.Opt{kgo.ClientID("sluice-relay"), kgo.DisableClientMetrics(), kgo.DialTimeout(5 * time.Second), kgo.SeedBrokers(values(brokers)...)}
	if certificates != nil {
		settings, err := tlsconfig.Client(*certificates)
		if err != nil {
			return nil, err
		}
		options = append(options, kgo.DialTLSConfig(settings))
	}
	if login != nil {
		options = append(options, authentication(login))
	}
	client, err := kgo.NewClient(append(options, more...)...)
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

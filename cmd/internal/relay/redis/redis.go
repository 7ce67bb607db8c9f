// Package redis appends documents to streams of Redis and takes them from there.
//
// An entry is a flat list of fields: each header by its name, and id, key, content-type and body. A header that has one of those four names is written with
// header: before it. Redis gives entries ids of its own and does not recognise what it has already: a document that is sent again after a crash is stored
// again, with the same id and event-id.
package redis

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/tlsconfig"
)

// Fields of an entry that are no headers.
const (
	fieldID      = "id"
	fieldKey     = "key"
	fieldContent = "content-type"
	fieldBody    = "body"
)

const headerPrefix = "header:"

const defaultTimeout = 10 * time.Second

func init() { logging.Disable() } // errors are returned

// connect makes a client, which connects when it is used. It never repeats a command, which could store a document twice: the pipeline does, and counts it.
func connect(address string, certificates config.TLS, timeout time.Duration) (*redis.Client, error) {
	options, err := redis.ParseURL(address)
	switch {
	case err != nil: // holds parts of the URL, and so the password
		return nil, errors.New("the url is not one of Redis, such as redis://user:password@host:6379/0; special characters in a password are percent-encoded")
	case strings.Contains(address, "skip_verify"):
		return nil, errors.New("the url has skip_verify, but certificates are always verified")
	}
	if options.TLSConfig != nil {
		server := options.TLSConfig.ServerName
		if options.TLSConfig, err = tlsconfig.Client(certificates); err != nil {
			return nil, err
		}
		options.TLSConfig.ServerName = server
	}
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	options.MaxRetries, options.DialerRetries = -1, 1
	options.ReadTimeout, options.WriteTimeout = timeout, timeout
	options.DialTimeout = min(timeout, 5*time.Second)
	options.ContextTimeoutEnabled = true
	options.DisableIdentity = true
	options.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return redis.NewClient(options), nil
}

// isAnswer reports whether an error is the server's answer, so that the connection works.
func isAnswer(err error) bool {
	var answer redis.Error
	return errors.As(err, &answer)
}

// checkStream says whether a name is that of a stream, or free.
func checkStream(ctx context.Context, client *redis.Client, stream string) error {
	kind, err := client.Type(ctx, stream).Result()
	switch {
	case err != nil:
		return err
	case kind != "stream" && kind != "none":
		return errors.New("the key " + stream + " is a " + kind + ", not a stream")
	}
	return nil
}

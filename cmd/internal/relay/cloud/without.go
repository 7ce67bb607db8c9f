//go:build !clouds

package cloud

import (
	"context"
	"errors"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

var errNotBuilt = errors.New("queues of clouds are not in this binary: build it with -tags clouds")

// Available says that this binary has no clients of clouds.
func Available() error { return errNotBuilt }

// NewSink fails: this binary has no clients of clouds.
func NewSink(context.Context, *config.Cloud) (wire.Sink, error) { return nil, errNotBuilt }

// NewSource fails: this binary has no clients of clouds.
func NewSource(context.Context, *config.CloudSource, func(*wire.Document, wire.Place) *wire.Event, int) (wire.Source, error) {
	return nil, errNotBuilt
}

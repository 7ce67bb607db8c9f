package relay

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/pgsluice/sluice/cmd/internal/relay/config"
)

const lookEvery = 2 * time.Second

// Watch sends the configuration of a file whenever the file changes or an element of now comes, until ctx ends. One that is wrong is logged, and not sent.
func Watch(ctx context.Context, path string, now <-chan os.Signal, load func() (*config.Relay, error), log *slog.Logger) <-chan *config.Relay {
	changed := make(chan *config.Relay)
	last, _ := os.ReadFile(path)
	go func() {
		ticker := time.NewTicker(lookEvery)
		defer ticker.Stop()
		for {
			asked := false
			select {
			case <-ctx.Done():
				return
			case <-now:
				asked = true
			case <-ticker.C:
			}
			text, err := os.ReadFile(path)
			if err != nil || !asked && bytes.Equal(text, last) {
				continue // a file that is being replaced may be missing for a moment
			}
			last = text
			next, err := load()
			if err != nil {
				log.Error("configuration not changed: it is wrong", "error", err)
				continue
			}
			select {
			case changed <- next:
			case <-ctx.Done():
			}
		}
	}()
	return changed
}

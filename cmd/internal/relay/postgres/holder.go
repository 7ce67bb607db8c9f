package postgres

import (
	"context"
	"time"
)

// beatEvery is how often a consumer shows that it is alive: one that is silent for a minute is alerted.
const beatEvery = 20 * time.Second

// holder extends a lease in the background while its rows are in progress, and shows that its consumer is alive.
type holder struct {
	extend func(ctx context.Context, lease int64) error
	cancel context.CancelFunc
	ended  chan struct{}
}

// start holds a lease, or none for 0, until stop, the next start, or until it is lost.
func (h *holder) start(lease int64, every time.Duration) {
	h.stop()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	h.cancel, h.ended = cancel, ended
	go func() {
		defer close(ended)
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				if isLost(h.extend(ctx, lease)) {
					return
				}
			}
		}
	}()
}

func (h *holder) stop() {
	if h.cancel == nil {
		return
	}
	h.cancel()
	<-h.ended
	h.cancel = nil
}

package relaytest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

// Recreated sends and receives documents before and after recreate deletes what they go to and creates it again. It opens the source again after an error, as
// the pipeline does.
func Recreated(t *testing.T, sink wire.Sink, open func() (wire.Source, error), before, after []*wire.Document, recreate func()) {
	t.Helper()
	source, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = source.Close(context.Background()) }()
	Send(t, sink, before)
	Collect(t, source, len(before))
	missing := map[string]bool{}
	for _, d := range after {
		missing[d.Event.ID] = true
	}
	ctx := Context(t)
	var received sync.WaitGroup
	received.Go(func() {
		for len(missing) > 0 && ctx.Err() == nil {
			if err == nil {
				err = settleNext(ctx, source, missing)
				continue
			}
			t.Logf("opened again: %v", err)
			time.Sleep(100 * time.Millisecond)
			_ = source.Close(ctx)
			if opened, failed := open(); failed == nil {
				source, err = opened, nil
			}
		}
	})
	recreate()
	if err := sendUntil(t, sink, after, new(int)); err != nil {
		t.Error(err)
	}
	received.Wait()
	if len(missing) > 0 {
		t.Errorf("%d events of %d did not arrive: %v", len(missing), len(after), err)
	}
}

func settleNext(ctx context.Context, source wire.Source, missing map[string]bool) error {
	events, err := source.Receive(ctx)
	if err != nil {
		return err
	}
	for _, e := range events {
		delete(missing, e.ID)
	}
	return source.Settle(ctx, events, make([]error, len(events)))
}

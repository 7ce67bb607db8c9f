package examples

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/pgsluice/sluice/tests/kit/installed"
)

// TestMailers lets mailers send messages of which every tenth fails once, and one takes longer than its lease. Each is sent at least once, and
// those that did not fail or take too long exactly once.
func TestMailers(t *testing.T) {
	db := installed.DB(t, installed.Load(t, filepath.Join("..", "..", "specs", "shop")))
	db.Exec(t, `select pgtrickle.inbox_receive('order_events', n::text, 'mail', '{}') from generate_series(1, 200) n`)
	var lock sync.Mutex
	sent, tries := map[string]int{}, map[string]int{}
	send := func(ctx context.Context, m Message) error {
		lock.Lock()
		tries[m.ID]++
		first := tries[m.ID] == 1
		lock.Unlock()
		switch {
		case first && m.ID == "33":
			time.Sleep(1500 * time.Millisecond)
		case first && m.ID[len(m.ID)-1] == '0':
			return errors.New("mailbox is busy")
		}
		lock.Lock()
		sent[m.ID]++
		lock.Unlock()
		return nil
	}
	ctx, stop := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for range 4 {
		m := &Mailer{DB: pool(t, db.DSN()), Inbox: "order_events", Batch: 1, Visibility: time.Second, Pause: 10 * time.Millisecond, Send: send}
		group.Go(func() { m.Run(ctx) })
	}
	until(t, db, `select count(*) = 200 from pgtrickle.order_events where processed_at is not null`)
	stop()
	group.Wait()
	for id, count := range sent {
		if count > 1 && id != "33" {
			t.Errorf("%s was sent %d times", id, count)
		}
	}
	if len(sent) != 200 {
		t.Errorf("%d of 200 messages were sent", len(sent))
	}
}

package live

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestNoneTwiceWhileTransactionsEnd claims all messages of inboxes of each kind, again and again, while other sessions begin and end transactions as fast as
// they can: no claim returns a message twice. A claim looks again at what it has locked, and knows its own locks by arithmetic on transaction ids.
func TestNoneTwiceWhileTransactionsEnd(t *testing.T) {
	pgtest.Parallel(t)
	db := installed.DB(t, installed.Text(t, `
version: 1
extension: {name: ends, version: 1.0.0}
inboxes:
  - {name: plain}
  - {name: urgent, priority: {map: {t1: 1, t2: 2}}}
  - {name: turns, ordering: {sequence: number}}
`))
	ctx, stop := context.WithCancel(t.Context())
	var ending sync.WaitGroup
	for range 4 {
		conn := db.Connect(t)
		ending.Go(func() {
			for ctx.Err() == nil {
				conn.Exec(t.Context(), "do $$ begin for i in 1..1000 loop perform pg_current_xact_id(); commit; end loop; end $$")
			}
		})
	}
	const more = "insert into pgtrickle.%s (event_id, event_type, received_at, %s payload) select concat_ws('-', $1::int, i), 't' || i %% 3, now(), %s '{}' from generate_series(1, 9) i"
	for inbox, insert := range map[string]string{
		"plain": fmt.Sprintf(more, "plain", "", ""), "urgent": fmt.Sprintf(more, "urgent", "", ""),
		"turns": fmt.Sprintf(more, "turns", "aggregate_id, number,", "concat_ws('-', $1::int, i), 1,"),
	} {
		for n := range pgtest.ShortOrLong(40, 10_000) {
			db.Exec(t, insert, n) // at one moment, at which the first claim leaves the cursor
			db.Exec(t, "select pgtrickle.inbox_mark_processed($1, event_id) from pgtrickle.inbox_claim($1, 3)", inbox)
			db.Exec(t, "begin; select pg_current_xact_id()")
			ids := pgtest.Column[string](t, db, "select event_id from pgtrickle.inbox_claim($1, 100)", inbox)
			db.Exec(t, "select pgtrickle.inbox_mark_processed($1, $2::text[])", inbox, ids)
			db.Exec(t, "commit")
			if slices.Sort(ids); len(ids) != 6 || len(slices.Compact(ids)) != 6 {
				t.Errorf("claim %d of %s: %q", n, inbox, ids)
				break
			}
		}
	}
	stop()
	ending.Wait()
}

package inboxes

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/tests/kit/pgtest"
	"github.com/pgsluice/sluice/tests/kit/trouble"
)

// chaosMessage is a message as its sender knows it. Its kind is ok, fails (twice), fails until replayed, or kills.
type chaosMessage struct {
	ID        string `json:"event_id"`
	Aggregate string `json:"aggregate_id"`
	Number    int    `json:"sequence"`
	Kind      string `json:"-"`
}

var (
	errDied       = errors.New("the client died")
	errRolledBack = errors.New("rolled back")
)

// block stores messages of aggregates whose first message is missing.
func (c *chaos) block(aggregates int) {
	c.db.Exec(c.t, "insert into sent select 'b' || i, 'b' || i, 2, 'ok' from generate_series(1, $1::int) i", aggregates)
	sequence := map[bool]string{true: ", number"}[c.ordered]
	number := map[bool]string{true: ", s.number"}[c.ordered]
	c.db.Exec(c.t, fmt.Sprintf("insert into pgtrickle.%s (event_id, event_type, aggregate_id, payload%s) select s.event_id, 't', s.aggregate_id, '{\"kind\": \"ok\"}'%s from sent s", c.inbox, sequence, number))
	for n := setsFree; n <= aggregates; n += setsFree {
		c.late = append(c.late, chaosMessage{ID: fmt.Sprint("first of b", n), Aggregate: fmt.Sprint("b", n), Number: 1, Kind: "ok"})
	}
}

// plan is what a receiver gets: the messages of aggregates, in the order in which they arrive. The first of some aggregates comes in the end.
func (c *chaos) plan(r *rand.Rand, n, count int) (all []chaosMessage) {
	for aggregate := 0; len(all) < count; aggregate++ {
		size := 1 + r.IntN(6)
		kills := map[bool]int{true: 1 + r.IntN(size)}[r.IntN(pgtest.ShortOrLong(40, 800)) == 0 || n+aggregate == 0]
		for number := 1; number <= size; number++ {
			m := chaosMessage{ID: fmt.Sprintf("m%d.%d.%d", n, aggregate, number), Aggregate: fmt.Sprintf("a%d.%d", n, aggregate), Number: number, Kind: "ok"}
			switch k := r.IntN(100); {
			case number == kills:
				m.Kind = "kills"
			case k < 10:
				m.Kind = "fails"
			case k < 14:
				m.Kind = "fails until replayed"
			case k < 24 && number == 1 && kills == 0:
				c.mu.Lock()
				c.late = append(c.late, m)
				c.mu.Unlock()
				continue
			}
			all = append(all, m)
		}
	}
	for from := 0; from < len(all); from += 24 { // out of order, but not by far
		some := all[from:min(from+24, len(all))]
		r.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
	}
	return all
}

// receive stores the messages of a receiver in transactions, with messages that it has stored before among them.
func (c *chaos) receive(a *actor, n, count int) error {
	r := trouble.Random(c.seed, "receiver", n)
	left, before := c.plan(r, n, count), []chaosMessage(nil)
	for len(left) > 0 && !c.t.Failed() {
		size := min(1+r.IntN(8), len(left))
		batch := left[:size:size]
		left = left[size:]
		again := batch
		if len(before) > 0 && r.IntN(3) == 0 {
			again = append(again, before[r.IntN(len(before))])
		}
		if r.IntN(4) == 0 {
			again = append(again, batch[0])
		}
		how, end, slow := r.IntN(3), r.IntN(8), time.Duration(max(0, r.IntN(400)-360)*5)*time.Millisecond
		done, err := a.try(func() error {
			return pgx.BeginFunc(a.ctx, a.conn, func(tx pgx.Tx) error {
				if err := c.store(a, how, again); err != nil {
					return err
				}
				time.Sleep(slow)
				switch end {
				case 0:
					return errRolledBack
				case 1:
					if r.IntN(3) == 0 {
						a.conn.PgConn().Conn().Close() // as the kernel does for a process that is gone
						return errDied
					}
				}
				return nil
			})
		})
		if err != nil {
			return err
		}
		if done {
			before = append(before, batch...)
			c.stored.Add(int64(len(batch)))
		} else {
			left = append(left, batch...)
		}
	}
	return nil
}

// store stores messages in one of the ways that there are, and notes which of them the inbox took.
func (c *chaos) store(a *actor, how int, messages []chaosMessage) error {
	type stored struct {
		chaosMessage
		Type    string            `json:"event_type"`
		Payload map[string]string `json:"payload"`
	}
	all := make([]stored, len(messages))
	for n, m := range messages {
		all[n] = stored{m, "t", map[string]string{"kind": m.Kind}}
	}
	document, err := json.Marshal(all)
	if err != nil {
		return err
	}
	given := `json_to_recordset($1) m (event_id text, aggregate_id text, sequence bigint, payload jsonb)`
	sequence := map[bool]string{true: ", m.sequence::text"}[c.ordered]
	took := []string{
		"select m.event_id from " + given + fmt.Sprintf(" where pgtrickle.inbox_receive('%s', m.event_id, 't', m.payload, null, m.aggregate_id, null%s)", c.inbox, sequence),
		fmt.Sprintf("select m.event_id from pgtrickle.inbox_receive_many('%s', $1) m where m.stored", c.inbox),
		fmt.Sprintf("insert into pgtrickle.%s (event_id, event_type, aggregate_id, payload%s) select m.event_id, 't', m.aggregate_id, m.payload%s from %s on conflict do nothing returning event_id",
			c.inbox, map[bool]string{true: ", number"}[c.ordered], map[bool]string{true: ", m.sequence"}[c.ordered], given),
	}[how]
	if how == 1 && !c.ordered { // a message has no sequence there
		took = fmt.Sprintf("select m.event_id from pgtrickle.inbox_receive_many('%s', (select jsonb_agg(m - 'sequence') from jsonb_array_elements($1) m)) m where m.stored", c.inbox)
	}
	rows, err := a.conn.Query(a.ctx, took, string(document))
	if err != nil {
		return err
	}
	took_, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	_, err = a.exec(`insert into sent select distinct on (m.event_id) m.event_id, m.aggregate_id, m.sequence, m.payload ->> 'kind' from `+given+` where m.event_id = any ($2)`, string(document), took_)
	return err
}

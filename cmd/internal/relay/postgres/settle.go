package postgres

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/internal/relay/wire"
)

// Settle implements wire.Source. A row is done when all its events are.
func (o *Outbox) Settle(ctx context.Context, events []*wire.Event, outcomes []error) error {
	for i, e := range events {
		r := e.Tag.(*row)
		r.open--
		switch err := outcomes[i]; {
		case err == nil:
		case wire.IsRejected(err):
			r.problem, r.read = err, true
		default:
			r.left, r.read = true, true
			var again wire.Postponed
			if errors.As(err, &again) {
				r.again = &again
			}
		}
	}
	var done []*row
	left := false
	for len(o.rows) > 0 && (left || o.rows[0].read && o.rows[0].open == 0) {
		r := o.rows[0]
		r.left = r.left || !r.read // behind one that was not delivered: to come again after it
		left = left || r.left
		done, o.rows = append(done, r), o.rows[1:]
	}
	if len(done) == 0 {
		return nil
	}
	o.holder.stop() // it locks leases in an order of its own: beside the statements of end that can be a deadlock
	err := o.end(ctx, done)
	if isLost(err) {
		o.log.Warn("lease lost: another consumer delivers these events again", "group", o.c.Group, "id", done[0].id)
		o.rows, err = nil, nil
	}
	o.hold()
	return err
}

// end says what became of rows, in one transaction.
func (o *Outbox) end(ctx context.Context, rows []*row) error {
	statements := &pgx.Batch{}
	queue := func(sql string, args ...any) {
		statements.Queue(o.db.sql(sql), append([]any{o.c.Group, o.consumer, o.lease}, args...)...)
	}
	var finished []int64
	for _, r := range rows {
		switch {
		case r.left:
			continue
		case r.problem != nil:
			queue("select %s.reject_rows($1, $2, $4, $5, p_lease_id => $3)", []int64{r.id}, r.problem.Error())
		default:
			finished = append(finished, r.id)
		}
		if r.isClaim != nil && *r.isClaim && r.problem == nil {
			statements.Queue(o.db.sql("select %s.outbox_rows_consumed($1, $2, $3)"), o.catalog.streamTable, r.id, o.c.Group)
		}
	}
	switch {
	case len(finished) == len(rows):
		queue("select %s.commit_offset($1, $2, $4, p_lease_id => $3)", finished[len(finished)-1])
	case len(finished) > 0:
		queue("select %s.ack_rows($1, $2, $4, p_lease_id => $3)", finished)
	}
	for _, r := range releases(rows) {
		queue("select %s.release_rows($1, $2, $4, pg_catalog.make_interval(secs => $5), $6, p_lease_id => $3)", r.ids, r.after.Seconds(), r.reason)
	}
	return plain(o.db.pool.SendBatch(ctx, statements).Close())
}

// release gives rows back, to come again after a time. Where it has a reason, that was an attempt.
type release struct {
	ids    []int64
	after  time.Duration
	reason *string
}

// releases gives back the rows that are left, from the last to the first: the server gives back those behind a row in its lane with it.
func releases(rows []*row) (all []release) {
	for _, r := range slices.Backward(rows) {
		if !r.left {
			continue
		}
		next := release{ids: []int64{r.id}}
		if r.again != nil {
			next.after = r.again.After
			if r.again.Counts {
				reason := r.again.Error()
				next.reason = &reason
			}
		}
		if n := len(all) - 1; n >= 0 && all[n].isLike(next) {
			all[n].ids = append(all[n].ids, r.id)
			continue
		}
		all = append(all, next)
	}
	return all
}

func (r release) isLike(other release) bool {
	return r.after == other.after && (r.reason == nil) == (other.reason == nil) && (r.reason == nil || *r.reason == *other.reason)
}

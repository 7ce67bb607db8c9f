package postgres

import (
	"context"

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
	err := o.end(ctx, done)
	if isLost(err) {
		o.log.Warn("lease lost: another consumer delivers these events again", "group", o.c.Group, "id", done[0].id)
		o.rows, err = nil, nil
	}
	if len(o.rows) == 0 {
		o.holder.stop()
	}
	return err
}

// end says what became of rows, in one transaction.
func (o *Outbox) end(ctx context.Context, rows []*row) error {
	statements := &pgx.Batch{}
	queue := func(sql string, args ...any) {
		statements.Queue(o.db.sql(sql), append([]any{o.c.Group, o.consumer, o.lease}, args...)...)
	}
	var finished, left []int64
	for _, r := range rows {
		switch {
		case r.left:
			left = append(left, r.id)
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
	if len(left) > 0 {
		queue("select %s.release_rows($1, $2, $4, p_lease_id => $3)", left)
	}
	return plain(o.db.pool.SendBatch(ctx, statements).Close())
}

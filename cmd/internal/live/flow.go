package live

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Flow is what the parts of an extension read of each other. Relations are schema.name.
type Flow struct {
	Inboxes  []InboxTable
	Outboxes []OutboxTable
	Reads    []Read
}

// InboxTable is where the messages of an inbox are.
type InboxTable struct {
	Name  string `db:"name"`
	Table string `db:"relation"`
}

// OutboxTable is where the rows of an outbox are, and the stream table whose changes they are, if they are.
type OutboxTable struct {
	Name        string  `db:"name"`   // as OutboxStatus has it
	Outbox      string  `db:"outbox"` // as GroupStatus has it
	Table       string  `db:"relation"`
	StreamTable *string `db:"stream_table"`
}

// Read is a relation that a stream table reads.
type Read struct {
	StreamTable string `db:"stream_table"`
	Relation    string `db:"relation"`
}

const (
	flowInboxesQuery = `
		select c.inbox_name as name, c.inbox_schema || '.' || c.inbox_table as relation
		from %[1]s.pgt_inbox_config c
		order by c.inbox_name`

	flowOutboxesQuery = `
		select coalesce(c.pgt_name, c.outbox_name) as name, c.outbox_name as outbox, c.outbox_schema || '.' || c.outbox_table_name as relation, c.stream_table
		from %[1]s.pgt_outbox_config c
		order by c.outbox_name`

	flowReadsQuery = `
		select c.stream_table, r.relation
		from %[2]s.pgt_stream_table_config c
		cross join unnest(c.reads) with ordinality r (relation, no)
		order by c.refresh_order, r.no`
)

func readFlow(ctx context.Context, conn *pgx.Conn, schema string) (*Flow, error) {
	flow := &Flow{}
	err := within(ctx, conn, beginReadOnly, func(tx pgx.Tx) (err error) {
		in := reader{ctx, tx, schema}
		if flow.Inboxes, err = collectIf[InboxTable](in, "pgt_inbox_config", flowInboxesQuery); err != nil {
			return err
		}
		if flow.Outboxes, err = collectIf[OutboxTable](in, "pgt_outbox_config", flowOutboxesQuery); err != nil {
			return err
		}
		flow.Reads, err = collectIf[Read](in, "pgt_stream_tables", flowReadsQuery)
		return err
	})
	if lacks(err) {
		err = nil // the status says what is missing
	}
	return flow, err
}

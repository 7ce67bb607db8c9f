package live

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Created are the inboxes and stream tables that functions of an extension created.
type Created struct {
	Extension    string
	Inboxes      []CreatedInbox
	StreamTables []CreatedStreamTable
}

// CreatedStreamTable is one of them, as the catalog has it.
type CreatedStreamTable struct {
	Schema      string `db:"pgt_schema"`
	Name        string `db:"pgt_name"`
	Query       string `db:"query"`
	RefreshMode string `db:"refresh_mode"`
	Schedule    string `db:"schedule"`
}

const createdStreamTablesQuery = `
	select c.pgt_schema::text as pgt_schema, c.pgt_name::text as pgt_name, c.query, c.refresh_mode, c.schedule
	from %[2]s.pgt_created_stream_tables c
	order by c.no`

// CreatedInbox is one of them, as the catalog has it.
type CreatedInbox struct {
	Name       string   `db:"inbox_name"`
	Schema     string   `db:"inbox_schema"`
	Table      string   `db:"inbox_table"`
	Managed    bool     `db:"is_managed"`
	ID         string   `db:"id_column"`
	IDs        []string `db:"id_columns"` // nil if it is one
	EventType  string   `db:"event_type_column"`
	Processed  string   `db:"processed_at_column"`
	RetryCount string   `db:"retry_count_column"`
	Error      string   `db:"error_column"`
	Received   string   `db:"received_at_column"`
	Delays     bool     `db:"has_delay"`
	MaxRetries int      `db:"max_retries"`
	Schedule   string   `db:"schedule"`
	DeadLetter bool     `db:"with_dead_letter"`
	Stats      bool     `db:"with_stats"`
	Kept       *float64 `db:"kept"` // seconds

	Ordering *CreatedOrdering `db:"-"` // nil if it does not hand out messages in sequence
	Priority *CreatedPriority `db:"-"` // nil if it does not hand out urgent messages first
}

// CreatedPriority says which messages one hands out first: Map or Tiers is nil.
type CreatedPriority struct {
	Inbox  string         `db:"inbox_name"`
	Column string         `db:"priority_column"`
	Map    map[string]int `db:"priority_map"`
	Tiers  []CreatedTier  `db:"tiers"`
}

// CreatedTier is a range of priorities.
type CreatedTier struct {
	Name     string `json:"name"`
	Min      int    `json:"min"`
	Max      int    `json:"max"`
	Schedule string `json:"schedule"`
}

const createdPriorityQuery = `
	select p.inbox_name, p.priority_column::text as priority_column, p.priority_map, p.tiers
	from %[1]s.pgt_inbox_priority_config p`

// CreatedOrdering are the columns by which one hands out messages.
type CreatedOrdering struct {
	Inbox     string `db:"inbox_name"`
	Aggregate string `db:"aggregate_column"`
	Sequence  string `db:"sequence_column"`
}

const createdOrderingQuery = `
	select o.inbox_name, o.aggregate_column::text as aggregate_column, o.sequence_column::text as sequence_column
	from %[1]s.pgt_inbox_ordering_config o`

const createdQuery = `
	select c.inbox_name, c.inbox_schema::text as inbox_schema, c.inbox_table::text as inbox_table, c.is_managed, c.id_column::text as id_column,
	       array(select jsonb_array_elements_text(nullif(to_jsonb(c) -> 'id_columns', 'null'))) as id_columns,
	       coalesce(c.event_type_column::text, 'event_type') as event_type_column, c.processed_at_column::text as processed_at_column,
	       c.retry_count_column::text as retry_count_column, c.error_column::text as error_column,
	       c.received_at_column::text as received_at_column, c.has_delay, c.max_retries, c.schedule, c.with_dead_letter, c.with_stats,
	       extract(epoch from c.processed_retention)::float8 as kept
	from %[1]s.pgt_inbox_config c
	where c.is_imperative
	order by c.inbox_name collate "C"`

// ReadCreated reads the inboxes and stream tables that functions created. It returns a Refusal if nothing is installed.
func ReadCreated(ctx context.Context, conn *pgx.Conn, schema string) (created Created, err error) {
	err = within(ctx, conn, beginReadOnly, func(tx pgx.Tx) error {
		found, err := installed(ctx, tx, schema)
		if err == nil && found.Name == "" {
			err = nothingIn(tx, schema)
		}
		if err != nil {
			return err
		}
		created.Extension = found.Name
		var there bool
		err = tx.QueryRow(ctx, "select to_regclass($1) is not null", sqltext.Qualified(generator.InternalSchema(schema), "pgt_created_stream_tables")).Scan(&there)
		if err == nil && there {
			created.StreamTables, err = collect[CreatedStreamTable](reader{ctx, tx, schema}, createdStreamTablesQuery)
		}
		if err != nil {
			return err
		}
		err = tx.QueryRow(ctx, "select exists (select from pg_attribute a where a.attrelid = to_regclass($1) and a.attname = 'is_imperative')",
			sqltext.Qualified(schema, "pgt_inbox_config")).Scan(&there)
		if err != nil || !there {
			return err
		}
		created.Inboxes, err = collect[CreatedInbox](reader{ctx, tx, schema}, createdQuery)
		if err != nil {
			return err
		}
		err = tx.QueryRow(ctx, "select to_regclass($1) is not null", sqltext.Qualified(schema, "pgt_inbox_ordering_config")).Scan(&there)
		if err != nil || !there { // of a version that could not order them
			return err
		}
		orderings, err := collect[CreatedOrdering](reader{ctx, tx, schema}, createdOrderingQuery)
		for n := range created.Inboxes {
			i := &created.Inboxes[n]
			if at := slices.IndexFunc(orderings, func(o CreatedOrdering) bool { return o.Inbox == i.Name }); at >= 0 {
				i.Ordering = &orderings[at]
			}
		}
		if err == nil {
			err = tx.QueryRow(ctx, "select to_regclass($1) is not null", sqltext.Qualified(schema, "pgt_inbox_priority_config")).Scan(&there)
		}
		if err != nil || !there {
			return err
		}
		priorities, err := collect[CreatedPriority](reader{ctx, tx, schema}, createdPriorityQuery)
		for n := range created.Inboxes {
			i := &created.Inboxes[n]
			if at := slices.IndexFunc(priorities, func(p CreatedPriority) bool { return p.Inbox == i.Name }); at >= 0 {
				i.Priority = &priorities[at]
			}
		}
		return err
	})
	return created, err
}

package live

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// MostDeadLetters is how many are listed at once, the latest.
const MostDeadLetters = 200

// mostShown is how many characters of a payload, or of headers, are read.
const mostShown = 200_000

// DeadLetter is a message of an inbox, or an event of a consumer group, that nobody could process. It has no payload.
type DeadLetter struct {
	ID        string     `json:"id" db:"id"`
	EventType *string    `json:"event_type" db:"event_type"`
	Arrived   time.Time  `json:"arrived_at" db:"arrived_at"`
	Dead      *time.Time `json:"dead_at" db:"dead_at"`
	Attempts  int        `json:"attempts" db:"attempts"`
	Consumer  *string    `json:"consumer,omitempty" db:"consumer"`
	Error     *string    `json:"error" db:"error"`
}

// Content is the rest of a dead letter.
type Content struct {
	Aggregate *string `json:"aggregate_id" db:"aggregate_id"`
	Source    *string `json:"source,omitempty" db:"source"`
	Trace     *string `json:"trace_id,omitempty" db:"trace_id"`
	Headers   *string `json:"headers,omitempty" db:"headers"`
	Payload   *string `json:"payload" db:"payload"`
	Cut       bool    `json:"cut" db:"cut"` // not all of it is there
}

// OneDeadLetter is a dead letter with its content, which is nil if the role may not read it.
type OneDeadLetter struct {
	DeadLetter
	Content *Content `json:"content"`
}

// In the queries of inboxes, %[1]s is the relation with the messages, %[2]s the internal schema and %[3]d after how many failures a message is dead.
const (
	inboxLettersQuery = `
		select i.event_id::text as id, i.event_type::text as event_type, i.received_at as arrived_at, d.dead_at, i.retry_count::integer as attempts,
		       null::text as consumer, left(i.error, 4000) as error
		from (
		    select x.event_id, min(x.dead_at) as dead_at
		    from %[2]s.pgt_inbox_dead x
		    where x.inbox_name = $1::text and ($2::text is null or x.event_id = $2::text)
		    group by x.event_id
		) d
		join %[1]s i on i.event_id = d.event_id
		where i.processed_at is null and i.retry_count >= %[3]d
		order by d.dead_at desc, d.event_id
		limit $3::integer`

	inboxContentQuery = `
		select j.r ->> 'aggregate_id' as aggregate_id, j.r ->> 'source' as source, j.r ->> 'trace_id' as trace_id, null::text as headers,
		       left(j.payload, $2::integer) as payload, length(j.payload) > $2::integer as cut
		from (
		    select to_jsonb(i) as r, jsonb_pretty(to_jsonb(i) -> 'payload') as payload
		    from %[1]s i
		    where i.event_id = $1::text
		) j`

	groupLettersQuery = `
		select d.id::text as id, d.event_type, d.created_at as arrived_at, d.dead_at, d.attempts, d.consumer_id as consumer, left(d.error, 4000) as error
		from %[1]s.pgt_consumer_dead_letters d
		where d.group_name = $1::text and ($2::text is null or d.id = $2::text::bigint)
		order by d.dead_at desc, d.id
		limit $3::integer`

	groupContentQuery = `
		select j.aggregate_id, null::text as source, null::text as trace_id, left(j.headers, $3::integer) as headers,
		       left(j.payload, $3::integer) as payload, length(j.payload) > $3::integer or coalesce(length(j.headers) > $3::integer, false) as cut
		from (
		    select d.aggregate_id, jsonb_pretty(d.headers) as headers, jsonb_pretty(d.payload) as payload
		    from %[1]s.pgt_consumer_dead_letters d
		    where d.group_name = $1::text and d.id = $2::bigint
		) j`
)

// InboxDeadLetters lists dead letters of an inbox, the latest first.
func (s *Session) InboxDeadLetters(ctx context.Context, inbox string) (letters []DeadLetter, err error) {
	err = s.reading(ctx, func(in reader) error {
		query, _, err := inboxQueries(in, inbox)
		if err == nil {
			letters, err = collectAs[DeadLetter](in, query, inbox, nil, MostDeadLetters)
		}
		return err
	})
	return letters, err
}

// InboxDeadLetter reads one.
func (s *Session) InboxDeadLetter(ctx context.Context, inbox, id string) (one OneDeadLetter, err error) {
	err = s.reading(ctx, func(in reader) error {
		query, content, err := inboxQueries(in, inbox)
		if err != nil {
			return err
		}
		return one.read(in, id, func() ([]DeadLetter, error) { return collectAs[DeadLetter](in, query, inbox, id, 1) },
			func(in reader) ([]Content, error) { return collectAs[Content](in, content, id, mostShown) })
	})
	return one, err
}

// GroupDeadLetters lists dead letters of a consumer group, the latest first.
func (s *Session) GroupDeadLetters(ctx context.Context, group string) (letters []DeadLetter, err error) {
	err = s.reading(ctx, func(in reader) error {
		if err := hasGroup(in, group); err != nil {
			return err
		}
		letters, err = collect[DeadLetter](in, groupLettersQuery, group, nil, MostDeadLetters)
		return err
	})
	return letters, err
}

// GroupDeadLetter reads one.
func (s *Session) GroupDeadLetter(ctx context.Context, group, id string) (one OneDeadLetter, err error) {
	number, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return one, NotThere{"dead letter", id}
	}
	err = s.reading(ctx, func(in reader) error {
		if err := hasGroup(in, group); err != nil {
			return err
		}
		return one.read(in, id, func() ([]DeadLetter, error) { return collect[DeadLetter](in, groupLettersQuery, group, id, 1) },
			func(in reader) ([]Content, error) {
				return collect[Content](in, groupContentQuery, group, number, mostShown)
			})
	})
	return one, err
}

// read reads a dead letter, and its content as far as the role may.
func (o *OneDeadLetter) read(in reader, id string, letter func() ([]DeadLetter, error), content func(reader) ([]Content, error)) error {
	letters, err := letter()
	if err != nil {
		return err
	}
	if len(letters) == 0 {
		return NotThere{"dead letter", id}
	}
	o.DeadLetter = letters[0]
	err = pgx.BeginFunc(in.ctx, in.tx, func(tx pgx.Tx) error {
		found, err := content(reader{in.ctx, tx, in.schema})
		if err == nil && len(found) > 0 {
			o.Content = &found[0]
		}
		return err
	})
	if forbidden(err) {
		return nil
	}
	return err
}

// inboxQueries are the queries of dead letters of an inbox. A table of the user is read through the relation that shows its rows as those of inboxes.
func inboxQueries(in reader, inbox string) (letters, content string, err error) {
	inboxes, err := collectIf[struct {
		Name       string `db:"inbox_name"`
		Schema     string `db:"rows_schema"`
		Table      string `db:"rows_table"`
		MaxRetries int    `db:"max_retries"`
	}](in, "pgt_inbox_config", `
		select c.inbox_name, coalesce(j.c ->> 'rows_schema', j.c ->> 'inbox_schema') as rows_schema, coalesce(j.c ->> 'rows_table', j.c ->> 'inbox_table') as rows_table, c.max_retries
		from %[1]s.pgt_inbox_config c
		cross join lateral (select to_jsonb(c) as c) j`)
	for _, i := range inboxes {
		if i.Name == inbox {
			table, internal := sqltext.Qualified(i.Schema, i.Table), sqltext.Ident(generator.InternalSchema(in.schema))
			return fmt.Sprintf(inboxLettersQuery, table, internal, i.MaxRetries), fmt.Sprintf(inboxContentQuery, table), nil
		}
	}
	if err == nil {
		err = NotThere{"inbox", inbox}
	}
	return "", "", err
}

func hasGroup(in reader, group string) error {
	groups, err := collectIf[struct {
		Name string `db:"group_name"`
	}](in, "pgt_consumer_groups", "select g.group_name from %[1]s.pgt_consumer_groups g")
	for _, g := range groups {
		if g.Name == group {
			return nil
		}
	}
	if err == nil {
		err = NotThere{"consumer group", group}
	}
	return err
}

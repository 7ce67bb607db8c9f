package live

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// Status is how an installed extension is doing.
type Status struct {
	Extension    ExtensionStatus     `json:"extension"`
	StreamTables []StreamTableStatus `json:"stream_tables"`
	Inboxes      []InboxStatus       `json:"inboxes"`
	Outboxes     []OutboxStatus      `json:"outboxes"`
	Groups       []GroupStatus       `json:"consumer_groups"`
	Gaps         []GapStatus         `json:"gaps"`
	Tasks        []TaskStatus        `json:"tasks"`
	Problems     []Problem           `json:"problems"`
}

// ExtensionStatus is what is installed.
type ExtensionStatus struct {
	Name        string    `json:"name" db:"name"`
	Version     string    `json:"version" db:"version"`
	Flavour     string    `json:"flavour" db:"flavour"`
	Runtime     string    `json:"runtime" db:"runtime"` // the version of Sluice that wrote it, and its modules
	RuntimeText string    `json:"runtime_text" db:"-"`  // whether it is as that version wrote it: original, altered or not compared
	Schema      string    `json:"schema" db:"schema"`
	InstalledAt time.Time `json:"installed_at" db:"installed_at"`
}

// StreamTableStatus is a row of pgt_stream_tables, and what waits for it.
type StreamTableStatus struct {
	Name             string   `json:"name" db:"name"` // schema.name
	RefreshMode      string   `json:"refresh_mode" db:"refresh_mode"`
	EffectiveMode    string   `json:"effective_mode" db:"effective_mode"`
	EffectiveReason  *string  `json:"effective_reason" db:"effective_reason"`
	Strategy         string   `json:"strategy" db:"strategy"`
	Schedule         string   `json:"schedule" db:"schedule"`
	Status           string   `json:"status" db:"status"`
	StalenessSeconds *float64 `json:"staleness_seconds" db:"staleness_seconds"` // nil before it is filled
	Waiting          *int64   `json:"waiting" db:"waiting"`                     // rows of change logs; nil if it will be recomputed
	Errors           int      `json:"consecutive_errors" db:"consecutive_errors"`
	LastError        *string  `json:"last_error" db:"last_error"`
}

// InboxStatus is how an inbox is doing.
type InboxStatus struct {
	Name                    string   `json:"name" db:"name"`
	Pending                 int64    `json:"pending" db:"pending"`
	DeadLetters             int64    `json:"dead_letters" db:"dead_letters"`
	Processed               int64    `json:"processed" db:"processed"`
	OldestPendingAgeSeconds *float64 `json:"oldest_pending_age_seconds" db:"oldest_pending_age_seconds"`
	TotalBytes              int64    `json:"total_bytes" db:"total_bytes"`
	Paused                  bool     `json:"paused" db:"paused"`
	Health                  string   `json:"health" db:"health"`
	Quarantined             *int64   `json:"quarantined,omitempty" db:"-"` // documents; nil if no inbox has a wire format
}

// TaskStatus is a background task.
type TaskStatus struct {
	Task      string   `json:"task" db:"task"`
	AgeSec    *float64 `json:"last_run_age_seconds" db:"last_run_age_seconds"` // nil if it never ran
	Runs      int64    `json:"runs" db:"runs"`
	LastError *string  `json:"last_error" db:"last_error"`
}

// ReadStatus reads how the extension in a schema is doing, in one snapshot. It returns a Refusal if there is none.
func ReadStatus(ctx context.Context, conn *pgx.Conn, schema string) (*Status, error) {
	s := &Status{StreamTables: []StreamTableStatus{}, Inboxes: []InboxStatus{}, Outboxes: []OutboxStatus{}, Groups: []GroupStatus{}, Gaps: []GapStatus{}, Tasks: []TaskStatus{}, Problems: []Problem{}}
	err := within(ctx, conn, beginReadOnly, func(tx pgx.Tx) error { return s.read(ctx, tx, schema) })
	if err != nil {
		return nil, err
	}
	s.Problems = append(s.Problems, s.problems()...)
	return s, nil
}

func (s *Status) read(ctx context.Context, tx pgx.Tx, schema string) error {
	found, err := installed(ctx, tx, schema)
	if err != nil {
		return err
	}
	if found.Name == "" {
		return nothingIn(tx, schema)
	}
	in := reader{ctx, tx, schema}
	extensions, err := collect[ExtensionStatus](in, extensionQuery)
	if err != nil {
		return err
	}
	s.Extension = extensions[0]
	s.Extension.Schema = schema
	for _, section := range []func(reader) error{
		func(in reader) (err error) { s.Tasks, err = collect[TaskStatus](in, tasksQuery); return err },
		func(in reader) (err error) {
			s.StreamTables, err = readStreamTables(in)
			return err
		},
		s.readInboxes,
		s.readQuarantine,
		func(in reader) (err error) {
			s.Outboxes, err = collectIf[OutboxStatus](in, "pgt_outbox_config", outboxesQuery)
			return err
		},
		func(in reader) (err error) {
			if s.Groups, err = collectIf[GroupStatus](in, "pgt_consumer_groups", groupsQuery); err != nil {
				return err
			}
			s.Gaps, err = collectIf[GapStatus](in, "pgt_consumer_groups", gapsQuery)
			return err
		},
		s.readIgnored,
		s.readRuntime,
	} {
		if err := s.section(in, section); err != nil {
			return err
		}
	}
	return nil
}

// section reads a part of the status. Where something is missing that it needs, that is a problem, and the rest is read all the same.
func (s *Status) section(in reader, read func(reader) error) error {
	err := pgx.BeginFunc(in.ctx, in.tx, func(tx pgx.Tx) error { return read(reader{in.ctx, tx, in.schema}) })
	if lacks(err) {
		s.Problems = append(s.Problems, Problem{"something is missing: " + err.Error(), lacking})
		return nil
	}
	return err
}

// lacking is what to do where something is missing.
const lacking = "\"sluice diff --dsn\" shows what else is, and \"sluice apply\" makes it again"

// Missing counts what the status found missing.
func (s *Status) Missing() int {
	count := 0
	for _, p := range s.Problems {
		if p.Hint == lacking {
			count++
		}
	}
	return count
}

// lacks reports whether an error is that something does not exist.
func lacks(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "42P01" || pg.Code == "42883" || pg.Code == "42703" || pg.Code == "42704" || pg.Code == "3F000")
}

// readInboxes reads how inboxes are doing, and what is missing of them: one that cannot be read hides no other.
func (s *Status) readInboxes(in reader) error {
	var names []string
	rows, err := collectIf[struct {
		Name string `db:"inbox_name"`
	}](in, "pgt_inbox_config", "select c.inbox_name from %[1]s.pgt_inbox_config c order by c.inbox_name")
	for _, row := range rows {
		names = append(names, row.Name)
	}
	if err != nil || len(names) == 0 {
		return err
	}
	missing, err := collect[missingRelation](in, missingQuery)
	if err != nil {
		return err
	}
	for _, m := range missing {
		s.Problems = append(s.Problems, Problem{fmt.Sprintf("inbox %s has lost %s", m.Inbox, m.Relation), lacking})
	}
	if len(missing) == 0 {
		s.Inboxes, err = collect[InboxStatus](in, inboxesQuery)
		return err
	}
	for _, name := range names {
		err := s.section(in, func(in reader) error {
			found, err := collect[InboxStatus](in, inboxQuery, name)
			s.Inboxes = append(s.Inboxes, found...)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// readQuarantine counts the documents that inboxes could not decode, where any has a wire format.
func (s *Status) readQuarantine(in reader) error {
	counts, err := collectIf[struct {
		Inbox     string `db:"inbox_name"`
		Documents int64  `db:"documents"`
	}](in, "pgt_inbox_quarantine", quarantineQuery)
	for _, count := range counts {
		for n := range s.Inboxes {
			if s.Inboxes[n].Name == count.Inbox {
				s.Inboxes[n].Quarantined = &count.Documents
			}
		}
	}
	return err
}

// missingRelation is a table or sequence of an inbox that is not there.
type missingRelation struct {
	Inbox    string `db:"inbox_name"`
	Relation string `db:"relation"`
}

// reader runs queries, in which %[1]s is the extension's schema and %[2]s its internal schema.
type reader struct {
	ctx    context.Context
	tx     pgx.Tx
	schema string
}

func collect[Row any](in reader, query string, args ...any) ([]Row, error) {
	internal := generator.InternalSchema(in.schema)
	return collectAs[Row](in, fmt.Sprintf(query, sqltext.Ident(in.schema), sqltext.Ident(internal), sqltext.Literal(internal)), args...)
}

// collectAs is collect of a query as it is.
func collectAs[Row any](in reader, query string, args ...any) ([]Row, error) {
	rows, err := in.tx.Query(in.ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[Row])
}

// readStreamTables reads how stream tables are.
func readStreamTables(in reader) ([]StreamTableStatus, error) {
	var counts bool
	err := in.tx.QueryRow(in.ctx, "select to_regproc($1) is not null", sqltext.Qualified(generator.InternalSchema(in.schema), "pgt_waiting")).Scan(&counts)
	if err != nil {
		return nil, err
	}
	waiting := noWaitingQuery
	if counts {
		waiting = waitingQuery
	}
	return collectIf[StreamTableStatus](in, "pgt_stream_tables", "with waiting as ("+waiting+")"+streamTablesQuery)
}

// collectIf is collect where a relation is there that only some extensions have.
func collectIf[Row any](in reader, relation, query string) ([]Row, error) {
	var there bool
	err := in.tx.QueryRow(in.ctx, "select to_regclass($1) is not null", sqltext.Qualified(in.schema, relation)).Scan(&there)
	if err != nil || !there {
		return []Row{}, err
	}
	return collect[Row](in, query)
}

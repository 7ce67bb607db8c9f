package live

import (
	"context"
	"time"
)

// Refresh is a refresh of a stream table.
type Refresh struct {
	Started  time.Time `json:"started_at" db:"started_at"`
	Finished time.Time `json:"finished_at" db:"finished_at"`
	Mode     string    `json:"mode" db:"mode"`
	Reason   *string   `json:"reason" db:"reason"`
	Inserted int64     `json:"inserted" db:"inserted"`
	Deleted  int64     `json:"deleted" db:"deleted"`
	Error    *string   `json:"error" db:"error"`
}

// mostRefreshes is how many refreshes are read at once, the latest.
const mostRefreshes = 50

// Explain returns the lines in which the server describes a stream table.
func (s *Session) Explain(ctx context.Context, name string) (lines []string, err error) {
	err = s.ofStreamTable(ctx, name, func(in reader) error {
		rows, err := collect[struct {
			Line string `db:"line"`
		}](in, "select e.line from %[1]s.explain_st($1::text) e (line)", name)
		for _, row := range rows {
			lines = append(lines, row.Line)
		}
		return err
	})
	return lines, err
}

// Refreshes returns the latest refreshes of a stream table, newest first.
func (s *Session) Refreshes(ctx context.Context, name string) (refreshes []Refresh, err error) {
	err = s.ofStreamTable(ctx, name, func(in reader) error {
		refreshes, err = collect[Refresh](in, `
			select h.started_at, h.finished_at, h.mode, h.reason, h.inserted, h.deleted, h.error
			from %[1]s.pgt_refresh_history h
			where h.stream_table = $1::text
			order by h.started_at desc, h.finished_at desc, h.refresh_id
			limit $2::integer`, name, mostRefreshes)
		return err
	})
	return refreshes, err
}

// ofStreamTable calls body if a stream table exists.
func (s *Session) ofStreamTable(ctx context.Context, name string, body func(reader) error) error {
	return s.reading(ctx, func(in reader) error {
		tables, err := collectIf[struct {
			Name string `db:"stream_table"`
		}](in, "pgt_stream_tables", "select c.stream_table from %[2]s.pgt_stream_table_config c")
		for _, t := range tables {
			if t.Name == name {
				return body(in)
			}
		}
		if err == nil {
			err = NotThere{"stream table", name}
		}
		return err
	})
}

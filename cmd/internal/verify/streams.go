package verify

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/ivm/diag"
	"github.com/pgsluice/sluice/ivm/sqltext"
)

// stream is a stream table as the catalog has it.
type stream struct {
	ID, Schema, Name, Query, Mode string
	columns                       []column
}

// column is one of a relation; those of types without equality are compared as text.
type column struct {
	Name   string
	AsText bool
}

func (v *verifier) schema() string { return sqltext.Ident(v.Extension.Schema) }

func (v *verifier) internal() string {
	return sqltext.Ident(generator.InternalSchema(v.Extension.Schema))
}

// readStreams reads the stream tables, those that others read first; none if there is no such catalog.
func (v *verifier) readStreams(ctx context.Context, conn *pgx.Conn) ([]*stream, error) {
	catalog := v.internal() + ".pgt_stream_table_config"
	var there bool
	if err := conn.QueryRow(ctx, "select to_regclass($1) is not null", catalog).Scan(&there); err != nil || !there {
		return nil, err
	}
	rows, err := conn.Query(ctx, "select stream_table, pgt_schema::text, pgt_name::text, query, effective_mode from "+catalog+" order by refresh_order, stream_table")
	if err != nil {
		return nil, err
	}
	streams, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*stream, error) {
		s := &stream{}
		return s, row.Scan(&s.ID, &s.Schema, &s.Name, &s.Query, &s.Mode)
	})
	for _, s := range streams {
		if err == nil {
			err = s.readColumns(ctx, conn)
		}
	}
	return streams, err
}

func (s *stream) readColumns(ctx context.Context, conn *pgx.Conn) error {
	rows, err := conn.Query(ctx, `
select a.attname::text, not exists (select from pg_opclass o join pg_am m on m.oid = o.opcmethod where m.amname = 'btree' and o.opcdefault and (
           o.opcintype = coalesce(nullif(t.typbasetype, 0), t.oid)
           or o.opcintype = 'anyarray'::regtype and t.typcategory = 'A' or o.opcintype = 'anyenum'::regtype and t.typtype = 'e'
           or o.opcintype = 'anyrange'::regtype and t.typtype = 'r' or o.opcintype = 'text'::regtype and t.typcategory = 'S'))
from pg_attribute a
join pg_type t on t.oid = a.atttypid
where a.attrelid = to_regclass($1) and a.attnum > 0 and not a.attisdropped
order by a.attnum`, s.relation())
	if err == nil {
		s.columns, err = pgx.CollectRows(rows, pgx.RowToStructByPos[column])
	}
	return err
}

func (s *stream) relation() string { return sqltext.Qualified(s.Schema, s.Name) }

// streams changes at random what stream tables read, round after round, and compares each with its query.
func (v *verifier) streams(ctx context.Context, conn *pgx.Conn, tables []*table) error {
	streams, err := v.readStreams(ctx, conn)
	if err != nil || len(streams) == 0 {
		return err
	}
	followers, err := v.follow(ctx, conn)
	if err != nil {
		return err
	}
	changes := newChanges(conn, tables, v.random(1))
	if err := changes.fill(ctx); err != nil {
		return err
	}
	v.result.add("random rows", changes.filled(), changes.unfilled())
	compared := 0
	for round := 1; round <= v.Rounds; round++ {
		v.Log("round %d of %d", round, v.Rounds)
		if err := changes.round(ctx); err != nil {
			return err
		}
		if v.Meddle != nil {
			if err := v.Meddle(ctx, conn); err != nil {
				return err
			}
		}
		n, err := v.compare(ctx, conn, streams)
		if compared += n; err != nil {
			v.result.add("stream tables", "", fmt.Errorf("in round %d with seed %d: %w", round, v.Seed, err))
			return ctx.Err()
		}
	}
	v.result.add("stream tables", fmt.Sprintf("%d, each equal to its query through %s, %s; %s", len(streams), diag.Count(v.Rounds, "round"), diag.Count(changes.done, "statement"), diag.Count(compared, "comparison")), nil)
	v.followed(ctx, conn, followers)
	return ctx.Err()
}

// compare refreshes stream tables and compares them with their queries, in one transaction: for both it is the same moment.
func (v *verifier) compare(ctx context.Context, conn *pgx.Conn, streams []*stream) (int, error) {
	compared := 0
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		for _, s := range streams {
			if s.Mode != "immediate" {
				refresh := fmt.Sprintf("select %s.refresh_stream_table($1)", v.schema())
				if s.Mode == "at_commit" { // commits maintain it, unless it is still to be filled
					refresh += fmt.Sprintf(" from %s.pgt_stream_table_state s where s.stream_table = $1 and (s.in_step is null or s.seen is null)", v.internal())
				}
				if _, err := tx.Exec(ctx, refresh, s.ID); err != nil {
					return fmt.Errorf("refreshing %s: %w", s.ID, err)
				}
			}
		}
		if _, err := tx.Exec(ctx, "set local search_path = public, "+v.schema()); err != nil {
			return err
		}
		var wrong error
		for _, s := range streams {
			err := s.compare(ctx, tx)
			if compared++; err != nil {
				wrong = errors.Join(wrong, err)
			}
		}
		return wrong
	})
	return compared, err
}

// compare counts rows on both sides: duplicates and nulls included.
func (s *stream) compare(ctx context.Context, tx pgx.Tx) error {
	var names, values []string
	for i, c := range s.columns {
		name := fmt.Sprintf("c%d", i+1)
		names = append(names, name)
		if c.AsText {
			name += "::text as " + name
		}
		values = append(values, name)
	}
	bag := fmt.Sprintf(`select sum(m) as n, row(%[1]s)::text as shown from (
    select %[2]s, 1 as m from (
%[3]s
    ) q (%[1]s)
    union all
    select %[2]s, -1 from %[4]s r (%[1]s)
) u group by %[1]s having sum(m) <> 0`, strings.Join(names, ", "), strings.Join(values, ", "), strings.TrimRight(s.Query, "; \n"), s.relation())
	rows, err := tx.Query(ctx, "select n::bigint, shown, count(*) over () from (\n"+bag+"\n) d order by shown collate \"C\" limit 5")
	if err != nil {
		return fmt.Errorf("comparing %s: %w", s.ID, err)
	}
	differing, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct {
		N     int64
		Shown string
		Of    int64
	}])
	if err != nil || len(differing) == 0 {
		return err
	}
	text := fmt.Sprintf("stream table %s differs from its query in %s", s.ID, diag.Count(differing[0].Of, "row"))
	for _, d := range differing {
		if d.N > 0 {
			text += fmt.Sprintf("\nmissing %s: %s", diag.Count(d.N, "time"), d.Shown)
		} else {
			text += fmt.Sprintf("\ntoo much %s: %s", diag.Count(-d.N, "time"), d.Shown)
		}
	}
	return errors.New(text)
}

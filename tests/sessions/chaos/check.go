package chaos

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Refresh brings every stream table up to date, in the order in which they read each other.
func (s *Subject) Refresh(ctx context.Context, tx pgx.Tx) error {
	for _, t := range s.tables {
		if _, err := tx.Exec(ctx, "select from chaos.refresh_stream_table($1)", t.name); err != nil {
			return fmt.Errorf("refreshing %s: %w", t.name, err)
		}
	}
	return nil
}

// Differences compares each stream table with its query, as bags, in one statement; it lists the rows that only one side has.
func (s *Subject) Differences(ctx context.Context, tx pgx.Tx) ([]string, error) {
	var parts []string
	for _, t := range s.tables {
		parts = append(parts, t.differences())
	}
	rows, err := tx.Query(ctx, strings.Join(parts, "\nunion all\n")+"\nlimit 40")
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// States recomputes each stream table that stores groups beside its rows and compares these with those that were there; it lists the rows that only one side
// has. Nothing of it stays.
func (s *Subject) States(ctx context.Context, tx pgx.Tx) (differences []string, err error) {
	rows, err := tx.Query(ctx, statesQuery)
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct{ Table, Recompute string }])
	if err != nil {
		return nil, err
	}
	if wanted := strings.Count(states, "- name: ") - 1; s.Views.keep() && len(found) < wanted { // one of them reads another
		return nil, fmt.Errorf("there are %d tables of groups beside rows, want %d or more", len(found), wanted)
	}
	var listed []string
	for _, state := range found {
		err := exec(ctx, tx.Conn(), "savepoint state", "create temporary table state_was as select * from "+state.Table, "select from "+state.Recompute)
		if err == nil {
			err = tx.QueryRow(ctx, fmt.Sprintf(`select array(
(select 'recomputed, %[1]s has ' || d::text from (select * from %[1]s except all select * from state_was) d)
union all
(select '%[1]s had ' || d::text from (select * from state_was except all select * from %[1]s) d)
limit 20)`, state.Table)).Scan(&listed)
		}
		if err == nil {
			err = exec(ctx, tx.Conn(), "rollback to state")
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", state.Table, err)
		}
		differences = append(differences, listed...)
	}
	return differences, nil
}

// statesQuery finds the tables of groups beside rows by their names, and what fills them.
const statesQuery = `select r.oid::regclass::text, format('chaos_internal.%I()', c.recompute_function)
from chaos_internal.pgt_stream_table_config c
join pg_class r on r.relnamespace = 'chaos_internal'::regnamespace and r.relkind = 'r'
    and r.relname ~ ('^' || split_part(c.stream_table, '.', 2) || '_state[0-9]+$')
order by 1`

// differences is a query for the rows that only one side has.
func (t table) differences() string {
	return fmt.Sprintf(`(select '%[1]s lacks ' || d::text from (select * from (
%[2]s
) q except all select * from chaos.%[1]s) d)
union all
(select '%[1]s has ' || d::text from (select * from chaos.%[1]s except all select * from (
%[2]s
) q) d)`, t.name, strings.TrimRight(t.query, "\n"))
}

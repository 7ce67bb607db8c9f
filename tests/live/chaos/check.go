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

package pgtest

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Querier is a Database, a connection or a transaction.
type Querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// One returns the single value of a query with one row and one column.
func One[T any](t testing.TB, q Querier, sql string, args ...any) T {
	t.Helper()
	rows, err := q.Query(t.Context(), sql, args...)
	if err != nil {
		t.Fatalf("%s\nin: %s", ErrorText(err), sql)
	}
	value, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[T])
	if err != nil {
		t.Fatalf("%s\nin: %s", ErrorText(err), sql)
	}
	return value
}

// Column returns the values of a query with one column.
func Column[T any](t testing.TB, q Querier, sql string, args ...any) []T {
	t.Helper()
	rows, err := q.Query(t.Context(), sql, args...)
	if err != nil {
		t.Fatalf("%s\nin: %s", ErrorText(err), sql)
	}
	values, err := pgx.CollectRows(rows, pgx.RowTo[T])
	if err != nil {
		t.Fatalf("%s\nin: %s", ErrorText(err), sql)
	}
	return values
}

// Rows returns a query's rows as PostgreSQL writes them; null is NULL.
func Rows(t testing.TB, q Querier, sql string, args ...any) [][]string {
	t.Helper()
	args = append([]any{pgx.QueryResultFormats{pgx.TextFormatCode}}, args...)
	rows, err := q.Query(t.Context(), sql, args...)
	if err != nil {
		t.Fatalf("%s\nin: %s", ErrorText(err), sql)
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) ([]string, error) {
		return texts(row.RawValues()), nil
	})
	if err != nil {
		t.Fatalf("%s\nin: %s", ErrorText(err), sql)
	}
	return all
}

// texts copies the values of a row in text format.
func texts(values [][]byte) []string {
	row := make([]string, len(values))
	for i, value := range values {
		row[i] = "NULL"
		if value != nil {
			row[i] = string(value)
		}
	}
	return row
}

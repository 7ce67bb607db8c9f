package live

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/generator/artifact"
)

// NamesTaken is a refusal to touch what others made.
type NamesTaken struct {
	Extension *generator.Extension
	Names     []artifact.Taken
}

func (e NamesTaken) Error() string {
	var all []string
	for _, t := range e.Names {
		all = append(all, e.Extension.Problem(t).Message)
	}
	return strings.Join(all, "; ")
}

// unclaimed refuses names that others have, of those that a query looks for.
func unclaimed(ctx context.Context, tx pgx.Tx, e *generator.Extension, query string) error {
	names, err := taken(ctx, tx, query)
	if err == nil && len(names) > 0 {
		err = NamesTaken{e, names}
	}
	return err
}

func taken(ctx context.Context, tx pgx.Tx, query string) ([]artifact.Taken, error) {
	if query == "" {
		return nil, nil
	}
	rows, err := tx.Query(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("looking for names: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[artifact.Taken])
}

// takenAt are the names that a query looks for, with where the spec gives them.
func takenAt(ctx context.Context, tx pgx.Tx, e *generator.Extension, query string) (all []Taken, err error) {
	names, err := taken(ctx, tx, query)
	for _, t := range names {
		all = append(all, Taken{t, e.Problem(t).Pos.String()})
	}
	return all, err
}

package pull

import (
	"context"
	"embed"
	"strings"

	"github.com/jackc/pgx/v5"
)

//go:embed sql/*.sql
var queries embed.FS

// database is a transaction that sees one state of the catalogs.
type database struct {
	ctx  context.Context
	tx   pgx.Tx
	made map[int64]bool // relations that the spec makes; views may read them, but they are not written
}

// open makes the server spell definitions in one way.
func open(ctx context.Context, tx pgx.Tx) (*database, error) {
	_, err := tx.Exec(ctx, query("settings"), pgx.QueryExecModeSimpleProtocol)
	return &database{ctx: ctx, tx: tx, made: map[int64]bool{}}, err
}

// query is the text of a file of sql/.
func query(name string) string {
	content, err := queries.ReadFile("sql/" + name + ".sql")
	if err != nil {
		panic(err)
	}
	return strings.TrimSpace(string(content))
}

// rows runs a query of sql/ and returns its rows.
func rows[T any](db *database, name string, args ...any) ([]T, error) {
	result, err := db.tx.Query(db.ctx, query(name), args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(result, pgx.RowToStructByName[T])
}

// Package pull reads tables and views, and all that they need, out of a live database and writes them as DDL. It asks the server's
// catalogs and nothing else, so it needs neither pg_dump nor the right to read rows.
package pull

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator/plan"
	"github.com/pgsluice/sluice/ivm/diag"
)

// Request says what to write.
type Request struct {
	Reads   plan.Reads // what a spec reads, or the user names
	Schemas []string   // whose tables and views are all written
	All     bool       // the tables and views of all schemas
	Header  string     // what the script begins with, as an SQL comment
}

// Unsupported is an object that no generated script can create.
type Unsupported struct{ Message, Hint string }

func (u Unsupported) Error() string { return u.Message }

// Refused is a list of tables that the role may not read.
type Refused struct{ *diag.List }

// ErrNothing says that a request names no tables.
var ErrNothing = errors.New("there is no table to write")

// Pull returns the script. Names that the database does not know go to errs; the script is then empty.
func Pull(ctx context.Context, conn *pgx.Conn, request Request, errs *diag.List) (Script, error) {
	var script Script
	options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err := pgx.BeginTxFunc(ctx, conn, options, func(tx pgx.Tx) error {
		db, err := open(ctx, tx)
		if err != nil {
			return err
		}
		roots, err := db.resolve(request, errs)
		if err != nil || !errs.Empty() {
			return err
		}
		if len(roots) == 0 {
			return ErrNothing
		}
		script, err = db.script(request, roots)
		return err
	})
	return script, err
}

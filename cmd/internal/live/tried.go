package live

import (
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/generator/plan"
	"github.com/pgsluice/sluice/ivm/diag"
)

// cannotFollow is the SQLSTATE of attach() for a stream table whose functions failed when they were tried, and whose mode does not recompute.
const cannotFollow = "SLR05"

// atItsQuery shows an error of a stream table's functions at its query in the spec; all other errors stay as they are.
func atItsQuery(queries []plan.Query, err error) error {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.Code != cannotFollow {
		return err
	}
	for i := range queries {
		if q := &queries[i]; pg.TableName == q.Name || strings.HasSuffix(pg.TableName, "."+q.Name) {
			errs := &diag.List{}
			errs.Add(diag.Error{Pos: q.Text.Pos(0), Code: "not-incremental", Message: pg.Message, Hint: pg.Hint})
			return errs
		}
	}
	return err
}

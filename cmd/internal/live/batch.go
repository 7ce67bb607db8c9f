package live

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgsluice/sluice/generator/artifact"
)

// batches runs steps in order: quick ones many at a time, since sessions that need what they lock wait for each round trip, and
// long ones by themselves, so that they can be reported.
func batches(ctx context.Context, tx pgx.Tx, steps []artifact.Step, progress *Progress) error {
	for from := 0; from < len(steps); {
		to := from + 1
		for !steps[from].Long && to < len(steps) && !steps[to].Long {
			to++
		}
		what := fmt.Sprintf("step %d of %d, %s", from+1, len(steps), steps[from].What)
		if to > from+1 {
			what = fmt.Sprintf("steps %d to %d of %d", from+1, to, len(steps))
		}
		progress.begin(what, "")
		if err := batch(ctx, tx, steps[from:to]); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// batch runs steps as one script; an error describes which of them it is about, and the place in it.
func batch(ctx context.Context, tx pgx.Tx, steps []artifact.Step) error {
	var sql strings.Builder
	starts := make([]int, len(steps))
	characters := 0
	for n, step := range steps {
		mark := fmt.Sprintf("select %d as sluice_step;\n", n)
		starts[n] = characters + len(mark)
		characters = starts[n] + utf8.RuneCountInString(step.SQL)
		sql.WriteString(mark + step.SQL)
	}
	at, err := follow(tx.Conn().PgConn().Exec(ctx, sql.String()))
	if err == nil {
		return nil
	}
	err = placed(err, steps[at].SQL, starts[at])
	return fmt.Errorf("%s: %w", steps[at].What, err)
}

// follow reads the results of a batch; it returns the last step that was begun.
func follow(results *pgconn.MultiResultReader) (at int, err error) {
	for results.NextResult() {
		reader := results.ResultReader()
		isMark := len(reader.FieldDescriptions()) == 1 && reader.FieldDescriptions()[0].Name == "sluice_step"
		for reader.NextRow() {
			if isMark {
				at, _ = strconv.Atoi(string(reader.Values()[0]))
			}
		}
		if _, err := reader.Close(); err != nil {
			break
		}
	}
	return at, results.Close()
}

// placed adds the place in a script to an error, if the server gave it. The script began after so many characters of what was sent.
func placed(err error, sql string, before int) error {
	var pg *pgconn.PgError
	if errors.As(err, &pg) && int(pg.Position) > before {
		return fmt.Errorf("%w\n%s", err, excerpt(sql, int(pg.Position)-before))
	}
	return err
}

package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
)

// Worker does one transaction after the other, for tests with a crowd of their own.
type Worker struct {
	make  maker
	name  string
	count atomic.Int64
}

// NewWorker makes one; what it does follows from the seed and the number.
func NewWorker(seed uint64, n, major int) *Worker {
	return &Worker{make: maker{rand.New(rand.NewPCG(seed, uint64(n))), major >= 15}, name: fmt.Sprint("worker ", n)}
}

// Work tries one transaction, once. What deadlocks, fails to serialize or a constraint refuses is no error.
func (w *Worker) Work(ctx context.Context, conn *pgx.Conn) error {
	isolation := []string{ReadCommitted, ReadCommitted, RepeatableRead, Serializable}[w.make.IntN(4)]
	t := w.make.transaction(isolation, fmt.Sprint(w.name, " ", w.count.Add(1)))
	err := t.run(ctx, conn)
	if t.judge(err) != wrong {
		return nil
	}
	return err
}

// Resolve ends the transactions that are prepared, one way or the other.
func Resolve(ctx context.Context, conn *pgx.Conn, r *rand.Rand) error {
	rows, err := conn.Query(ctx, "select gid from pg_prepared_xacts order by gid")
	if err != nil {
		return err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, name := range names {
		end := []string{"commit", "rollback"}[r.IntN(2)]
		if err := exec(ctx, conn, fmt.Sprintf("%s prepared '%s'", end, name)); err != nil {
			return err
		}
	}
	return nil
}

// Check compares in one snapshot; the error lists the rows that differ.
func (s *Subject) Check(ctx context.Context, conn *pgx.Conn) error {
	return pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.RepeatableRead}, func(tx pgx.Tx) error {
		differences, err := s.Differences(ctx, tx)
		if err == nil && len(differences) == 0 && s.Views.keep() {
			differences, err = s.States(ctx, tx)
		}
		if err == nil && len(differences) > 0 {
			err = fmt.Errorf("differences:\n%s", strings.Join(differences, "\n"))
		}
		return err
	})
}

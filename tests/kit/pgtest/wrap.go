package pgtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/pgsluice/sluice/cmd/commandtest"
)

// nearWrap brings a fresh server to where SLUICE_TEST_XIDS=n transactions are left before numbers of 32 bits begin again, as they do
// every four billion transactions: what is compared by age or by 64 bits must not notice.
func nearWrap(ctx context.Context, s *commandtest.Server) error {
	left, err := strconv.ParseUint(os.Getenv("SLUICE_TEST_XIDS"), 10, 32)
	if err != nil {
		return nil
	}
	last := uint64(1)<<32 - left
	// Nothing may be older than two billion transactions: go by thirds, and freeze all rows in between.
	for _, next := range []uint64{last / 3, 2 * (last / 3), last} {
		if err := freeze(ctx, s); err != nil {
			return err
		}
		if err := s.Stop(); err != nil {
			return err
		}
		if err := resetXID(s, next); err != nil {
			return err
		}
		if err := s.Restart(); err != nil {
			return err
		}
	}
	return nil
}

func freeze(ctx context.Context, s *commandtest.Server) error {
	if err := superuser(ctx, s, "postgres", "update pg_database set datallowconn = true"); err != nil {
		return err
	}
	for _, db := range []string{"template0", "template1", "postgres"} {
		if err := superuser(ctx, s, db, "vacuum freeze", "checkpoint"); err != nil {
			return err
		}
	}
	return superuser(ctx, s, "postgres", "update pg_database set datallowconn = datname <> 'template0'", "vacuum freeze pg_database", "checkpoint")
}

// resetXID sets the number of the next transaction, and makes the file in which the server keeps how transactions around it ended.
func resetXID(s *commandtest.Server, next uint64) error {
	const perFile, fileSize = 1 << 20, 256 << 10
	file := filepath.Join(s.DataDir(), "pg_xact", fmt.Sprintf("%04X", next/perFile))
	if _, err := os.Stat(file); err != nil {
		if err := os.WriteFile(file, make([]byte, fileSize), 0o600); err != nil {
			return err
		}
		dir, err := os.Stat(s.DataDir())
		if err != nil {
			return err
		}
		owner := dir.Sys().(*syscall.Stat_t)
		if err := os.Chown(file, int(owner.Uid), int(owner.Gid)); err != nil {
			return err
		}
	}
	out, err := s.Command("pg_resetwal", "--next-transaction-id", strconv.FormatUint(next, 10), s.DataDir()).CombinedOutput()
	if err != nil {
		return fmt.Errorf("pg_resetwal: %w\n%s", err, out)
	}
	return nil
}

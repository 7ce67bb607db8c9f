package isolation

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/generator"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestIdle interleaves writers with refreshes of a stream table that is recomputed after changes only.
func TestIdle(t *testing.T) {
	const ddl = "create table public.orders (id int primary key, amount int not null);\n"
	extension := installed.Over(t, `version: 1
extension: {name: idle, version: 1.0.0}
schema: [schema.sql]
stream_tables:
  - name: first
    schedule: 1h
    query: |
      SELECT id, amount FROM public.orders ORDER BY amount DESC, id LIMIT 3
`, ddl)
	RunDir(t, "idle", func(t testing.TB) *pgtest.Database {
		return pgtest.DB(t, pgtest.Template(t, "idle", func(ctx context.Context, conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, ddl+"insert into public.orders values (1, 10);\n"+extension.Install(generator.Plain))
			return err
		}))
	})
}

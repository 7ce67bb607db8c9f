package upgrade

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/generator/upgrade"
	"github.com/pgsluice/sluice/tests/kit/installed"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// TestCopied upgrades a copy of a database, in which no tick has run yet, to a version that has one consumer group more.
func TestCopied(t *testing.T) {
	pgtest.Parallel(t)
	const text = "version: 1\nextension: {name: mail, version: 1.%d.0}\noutboxes:\n  - name: letters\nconsumer_groups:\n  - {name: first, outbox: letters}\n%s"
	first := installed.Text(t, fmt.Sprintf(text, 0, ""))
	second := installed.Text(t, fmt.Sprintf(text, 1, "  - {name: second, outbox: letters, auto_offset_reset: earliest}\n"))
	db := pgtest.DB(t, pgtest.Template(t, key(first), func(ctx context.Context, conn *pgx.Conn) error {
		if _, err := commandtest.Apply(ctx, conn, first, commandtest.ApplyOptions{}); err != nil {
			return err
		}
		_, err := conn.Exec(ctx, "select pgtrickle.outbox_publish('letters', 't', '{}')")
		return err
	}))
	apply(t, db, second, commandtest.ApplyOptions{Released: []upgrade.Manifest{first.Manifest()}})
	if got := pgtest.Column[string](t, db, "select event_type from pgtrickle.poll_outbox('second', 'c')"); len(got) != 1 {
		t.Errorf("the new group is given %q", got)
	}
	pgtest.Rows(t, db, "select pgtrickle.tick_once()")
}

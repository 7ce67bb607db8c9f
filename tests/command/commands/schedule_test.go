package commands

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/pgsluice/sluice/cmd/commandtest"
	"github.com/pgsluice/sluice/tests/kit/pgtest"
)

// schedule ticks a database for three seconds.
func schedule(t *testing.T, db *pgtest.Database) error {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	return commandtest.Scheduler{
		DSN: db.DSN("application_name=scheduler"), Schema: "pgtrickle", Every: 50 * time.Millisecond, Log: func(level slog.Level, message string) { t.Log(level, message) },
	}.Run(ctx)
}

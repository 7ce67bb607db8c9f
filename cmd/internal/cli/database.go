package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"

	"github.com/pgsluice/sluice/cmd/internal/live"
	"github.com/pgsluice/sluice/cmd/internal/process"
	"github.com/pgsluice/sluice/ivm/diag"
)

// withDatabase connects, runs body and sorts its errors: a refusal is wrong input, all else is the database's.
func withDatabase(cmd *cobra.Command, body func(context.Context, *pgx.Conn) error) error {
	return withNotices(cmd, nil, body)
}

// withNotices is withDatabase that passes the server's notices on.
func withNotices(cmd *cobra.Command, notice func(*pgconn.Notice), body func(context.Context, *pgx.Conn) error) error {
	url, err := dsn(cmd)
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	conn, err := live.ConnectNoticing(ctx, url, notice)
	if err == nil {
		defer conn.Close(context.WithoutCancel(ctx))
		err = body(ctx, conn)
	}
	var refusal live.Refusal
	var failure live.Failure
	var exit process.Error
	var wrong *diag.List
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong):
		return process.Fail(process.Input, process.Problems(wrong, "nothing was changed"))
	case errors.As(err, &exit):
		return err
	case errors.As(err, &refusal):
		return process.Fail(process.Input, fmt.Sprintf("sluice: %s; nothing was changed\nhint: %s\n", refusal.Message, refusal.Hint))
	case errors.As(err, &failure):
		return process.Fail(process.Database, fmt.Sprintf("sluice: %v\nhint: %s\n", err, failure.Hint))
	default:
		return process.Fail(process.Database, fmt.Sprintf("sluice: %v\n%s", err, more(err)))
	}
}

// more is what the server says about an error besides its message.
func more(err error) (text string) {
	failed := (*pgconn.PgError)(nil)
	if !errors.As(err, &failed) {
		return ""
	}
	if failed.Detail != "" {
		text += "detail: " + failed.Detail + "\n"
	}
	if failed.Hint != "" {
		text += "hint: " + failed.Hint + "\n"
	}
	return text
}

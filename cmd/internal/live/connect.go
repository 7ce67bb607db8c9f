package live

import (
	"cmp"
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Connect opens a connection that works through a transaction-pooling proxy: it prepares no named statements.
func Connect(ctx context.Context, dsn string) (*pgx.Conn, error) {
	return ConnectNoticing(ctx, dsn, nil)
}

// ConnectNoticing is Connect with a handler of the notices that the server sends.
func ConnectNoticing(ctx context.Context, dsn string, notice func(*pgconn.Notice)) (*pgx.Conn, error) {
	return connect(ctx, dsn, "", notice)
}

// ConnectTo is Connect to another database of the same server.
func ConnectTo(ctx context.Context, dsn, database string) (*pgx.Conn, error) {
	return connect(ctx, dsn, database, nil)
}

func connect(ctx context.Context, dsn, database string, notice func(*pgconn.Notice)) (*pgx.Conn, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	config.Database = cmp.Or(database, config.Database)
	if notice != nil {
		config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { notice(n) }
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	config.RuntimeParams["datestyle"], config.RuntimeParams["standard_conforming_strings"] = "ISO", "on" // poolers know these two
	return pgx.ConnectConfig(ctx, config)
}

package live

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// setOwnPath makes every name without a schema PostgreSQL's own until the transaction ends. Otherwise whoever may create in a schema of the role's
// search_path could run code with the role's rights, by an operator or a function that fits a statement better than PostgreSQL's. It is no parameter of
// the connection, which poolers would refuse or give to others.
const setOwnPath = "set local search_path = pg_catalog, pg_temp"

// Statements that begin a transaction.
const (
	beginSnapshot      = "begin isolation level repeatable read" // of one snapshot
	beginReadOnly      = beginSnapshot + " read only"
	beginReadWrite     = "begin read write"
	beginReadCommitted = "begin isolation level read committed"
)

// underOwnPath are options of a transaction that begins with a statement, and in which names without a schema are PostgreSQL's own.
func underOwnPath(begin string) pgx.TxOptions {
	return pgx.TxOptions{BeginQuery: begin + "; " + setOwnPath}
}

// within runs body in such a transaction.
func within(ctx context.Context, conn *pgx.Conn, begin string, body func(pgx.Tx) error) error {
	return pgx.BeginTxFunc(ctx, conn, underOwnPath(begin), body)
}

package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Databases that the measurements of views make when they need them; all are copies of the first.
const (
	viewsBase  = "views_base"
	viewsPlain = "views_plain" // no view
)

// views makes the database once, and returns how to reach it.
func (b *bench) views(ctx context.Context, name string, prepare func(dsn string) error) (string, error) {
	dsn := b.server.DSN(name, "synchronous_commit=off")
	if b.made[name] {
		return dsn, nil
	}
	if name != viewsBase {
		if _, err := b.views(ctx, viewsBase, b.loadSales(ctx)); err != nil {
			return "", err
		}
	}
	fmt.Fprintf(b.log, "    making database %s\n", name)
	err := connected(ctx, b.server.DSN("postgres"), func(conn *pgx.Conn) error {
		template := "template0"
		if name != viewsBase {
			template = viewsBase
		}
		return execute(ctx, conn, "create database "+name+" template "+template)
	})
	if err == nil && prepare != nil {
		err = prepare(dsn)
	}
	if err == nil {
		b.made[name] = true
	}
	return dsn, err
}

// loadSales fills the tables. Two runs have the same rows.
func (b *bench) loadSales(ctx context.Context) func(dsn string) error {
	return func(dsn string) error {
		return connected(ctx, dsn, func(conn *pgx.Conn) error {
			if _, err := conn.PgConn().Exec(ctx, viewsDDL).ReadAll(); err != nil {
				return err
			}
			return execute(ctx, conn,
				fmt.Sprintf("insert into product select n, 'product ' || n, n %% 50 from generate_series(0, %d) n", products-1),
				fmt.Sprintf("insert into customer select n, 'customer ' || n, n %% %d from generate_series(0, %d) n", cities, customers-1),
				insertSales("1", fmt.Sprint(b.cfg.Sales)),
				"vacuum analyze")
		})
	}
}

// insertSales is a statement that inserts sales with the ids of a range. Their other columns are hashes of the id.
func insertSales(first, last string) string {
	spread := func(salt, over int) string {
		return fmt.Sprintf("(hashint8(n * 4 + %d) & 2147483647) %% %d", salt, over)
	}
	return fmt.Sprintf("insert into sale select n, %s, %s, %s, %s from generate_series(%s::bigint, %s::bigint) n",
		spread(0, products), spread(1, customers), spread(2, buckets), spread(3, 1000), first, last)
}

// vacuum lets a database start its turn without garbage.
func vacuum(ctx context.Context, dsn string) error {
	return connected(ctx, dsn, func(conn *pgx.Conn) error { return execute(ctx, conn, "vacuum", "checkpoint") })
}

// consume brings all stream tables of a database up to date, and prunes their logs.
func (b *bench) consume(ctx context.Context, dsn string) error {
	return connected(ctx, dsn, func(conn *pgx.Conn) error {
		for _, c := range classes {
			if err := execute(ctx, conn, "select * from sl.refresh_stream_table('"+c.stream()+"')"); err != nil {
				return err
			}
		}
		return execute(ctx, conn, "call sl.tick()")
	})
}

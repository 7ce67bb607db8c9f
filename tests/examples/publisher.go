package examples

import (
	"context"
	"encoding/json"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Order is what the shop sells.
type Order struct {
	ID     string      `json:"order_id"`
	Amount json.Number `json:"amount"`
}

// PlaceOrder stores an order and publishes that it was placed, in one transaction: both happen or neither. It returns the event's id.
func PlaceOrder(ctx context.Context, db *pgxpool.Pool, order Order) (id int64, err error) {
	payload, err := json.Marshal(order)
	if err != nil {
		return 0, err
	}
	err = pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `insert into orders (order_id, amount) values ($1, $2)`, order.ID, order.Amount.String()); err != nil {
			return err
		}
		const publish = `select events.outbox_publish('shop_events', 'order.placed', $1, p_aggregate_id => $2)`
		return tx.QueryRow(ctx, publish, string(payload), order.ID).Scan(&id)
	})
	return id, err
}

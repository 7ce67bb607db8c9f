// Publishes events in the transaction of the change: node publisher.mjs DSN PREFIX COUNT
import pg from "pg";

// inTransaction runs work in a transaction: what it throws rolls back.
async function inTransaction(pool, work) {
  const db = await pool.connect();
  let lost;
  try {
    await db.query("begin");
    const result = await work(db);
    await db.query("commit");
    return result;
  } catch (failure) {
    await db.query("rollback").catch((error) => (lost = error)); // a connection that is lost is closed
    throw failure;
  } finally {
    db.release(lost);
  }
}

// placeOrder stores an order and publishes that it was placed: both happen or neither. It returns the event's id, or undefined if the order was there.
async function placeOrder(db, order) {
  const stored = await db.query("insert into orders (order_id, amount) values ($1, $2) on conflict do nothing", [order.order_id, order.amount]);
  if (stored.rowCount === 0) return undefined; // it was published then
  const { rows } = await db.query(
    "select events.outbox_publish('shop_events', 'order.placed', $1::jsonb, p_aggregate_id => $2::text) as id",
    [JSON.stringify(order), order.order_id],
  );
  return rows[0].id;
}

const [dsn, prefix, count] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: dsn, max: 1 });
// A connection that is lost must not end the process: the pool replaces it.
pool.on("connect", (client) => client.on("error", (failure) => console.error(failure.message)));
pool.on("error", () => {}); // the same, of an idle one
for (let n = 0; n < Number(count); n++) {
  const order = { order_id: `${prefix}-${n}`, amount: n % 10 }; // the table refuses an amount of 0
  try {
    await inTransaction(pool, (db) => placeOrder(db, order));
  } catch (refused) {
    if (refused.code !== "23514") throw refused;
    console.log(JSON.stringify({ order_id: order.order_id, refused: refused.constraint }));
  }
}
await pool.end();

// Processes the messages of an inbox. Any number of workers may run side by side: node worker.mjs DSN INBOX
import pg from "pg";

const BATCH = 20; // the most messages of a transaction
const PAUSE = 50; // milliseconds between claims that find nothing

let stopped = false;
const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

// run works until the process is asked to stop, and then finishes the batch at hand. It connects again where the connection is lost.
async function run(pool, inbox, handle) {
  while (!stopped) {
    try {
      if ((await batch(pool, inbox, handle)) === 0) await pause(PAUSE);
    } catch (failure) {
      console.error(`a batch was rolled back: ${failure.message}`); // nothing of it was done: the messages are claimed again
      await pause(1000);
    }
  }
}

// batch claims, works and marks in one transaction. It returns the number of messages claimed.
async function batch(pool, inbox, handle) {
  const db = await pool.connect();
  let lost;
  try {
    await db.query("begin");
    const { rows } = await db.query("select event_id, payload from pgtrickle.inbox_claim($1, $2)", [inbox, BATCH]);
    for (const { event_id, payload } of rows) {
      await db.query("savepoint message");
      try {
        await handle(db, event_id, payload);
        await db.query("release savepoint message");
      } catch (failure) {
        // Takes back the work of a message that fails, and keeps its claim.
        await db.query("rollback to savepoint message");
        await db.query("select pgtrickle.inbox_mark_failed($1, $2, $3)", [inbox, event_id, failure.message]);
        continue;
      }
      await db.query("select pgtrickle.inbox_mark_processed($1, $2)", [inbox, event_id]);
    }
    await db.query("commit");
    return rows.length;
  } catch (failure) {
    lost = failure; // the connection is closed, which rolls back
    throw failure;
  } finally {
    db.release(lost);
  }
}

async function ship(db, eventId, payload) {
  if (payload.order_id === undefined) throw new Error("no order_id");
  await db.query("insert into shipments (event_id, order_id) values (hashtext($1), $2)", [eventId, payload.order_id]);
}

process.on("SIGTERM", () => (stopped = true));
const pool = new pg.Pool({ connectionString: process.argv[2], max: 1 });
// A connection that is lost must not end the process: the pool replaces it.
pool.on("connect", (client) => client.on("error", (failure) => console.error(failure.message)));
pool.on("error", () => {}); // the same, of an idle one
await run(pool, process.argv[3], ship);
await pool.end();

// Processes the messages of an inbox with ordering, those of an account in sequence: node ordered.mjs DSN INBOX
import pg from "pg";

const BATCH = 50; // the most accounts of a transaction: a claim has one message of each
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

// batch claims the next message of each of some accounts, works and marks in one transaction. Until it ends, nobody gets the message that follows.
async function batch(pool, inbox, handle) {
  const db = await pool.connect();
  let lost;
  try {
    await db.query("begin");
    const { rows } = await db.query("select event_id, aggregate_id, sequence, payload from pgtrickle.inbox_claim($1, $2)", [inbox, BATCH]);
    for (const message of rows) {
      await db.query("savepoint message");
      try {
        await handle(db, message);
        await db.query("release savepoint message");
      } catch (failure) {
        // Takes back the work of a message that fails, and keeps its claim. It is tried again, and the messages behind it wait.
        await db.query("rollback to savepoint message");
        await db.query("select pgtrickle.inbox_mark_failed($1, $2, $3)", [inbox, message.event_id, failure.message]);
        continue;
      }
      await db.query("select pgtrickle.inbox_mark_processed($1, $2)", [inbox, message.event_id]);
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

async function book(db, { aggregate_id: account, sequence, payload }) {
  const booked = await db.query(
    "update accounts set balance = balance + $1, version = $2 where account = $3 and version = $2 - 1",
    [payload.amount, sequence, account], // sequence is a text, as numbers of 64 bits are in JavaScript
  );
  if (booked.rowCount === 0) throw new Error(`account ${account} is not at the version before ${sequence}`);
}

process.on("SIGTERM", () => (stopped = true));
const pool = new pg.Pool({ connectionString: process.argv[2], max: 1 });
// A connection that is lost must not end the process: the pool replaces it.
pool.on("connect", (client) => client.on("error", (failure) => console.error(failure.message)));
pool.on("error", () => {}); // the same, of an idle one
await run(pool, process.argv[3], book);
await pool.end();

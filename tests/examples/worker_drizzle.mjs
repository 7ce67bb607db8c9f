// Processes the messages of an inbox with Drizzle. Any number of workers may run side by side: node worker_drizzle.mjs DSN INBOX
import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import pg from "pg";

const BATCH = 20; // the most messages of a transaction
const PAUSE = 50; // milliseconds between claims that find nothing

let stopped = false;
const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

// Drizzle names the query in its message, and the reason in its cause.
const reason = (failure) => failure.cause?.message ?? failure.message;

// run works until the process is asked to stop, and then finishes the batch at hand. The pool connects again where the connection is lost.
async function run(pool, inbox, handle) {
  while (!stopped) {
    try {
      if ((await batch(pool, inbox, handle)) === 0) await pause(PAUSE);
    } catch (failure) {
      console.error(`a batch was rolled back: ${reason(failure)}`); // nothing of it was done: the messages are claimed again
      await pause(1000);
    }
  }
}

// batch claims, works and marks in one transaction. It returns the number of messages claimed. The connection is taken from the pool here, as Drizzle
// does not give back one that is lost at "begin": a pool that has no other waits for it forever.
async function batch(pool, inbox, handle) {
  const client = await pool.connect();
  let lost;
  try {
    return await drizzle(client).transaction((db) => work(db, inbox, handle));
  } catch (failure) {
    lost = failure; // the connection is closed
    throw failure;
  } finally {
    client.release(lost);
  }
}

async function work(db, inbox, handle) {
  const { rows } = await db.execute(sql`select event_id, payload from pgtrickle.inbox_claim(${inbox}, ${BATCH})`);
  for (const { event_id, payload } of rows) {
    try {
      // A savepoint: takes back the work of a message that fails, and keeps its claim.
      await db.transaction((savepoint) => handle(savepoint, event_id, payload));
    } catch (failure) {
      await db.execute(sql`select pgtrickle.inbox_mark_failed(${inbox}, ${event_id}, ${reason(failure)})`);
      continue;
    }
    await db.execute(sql`select pgtrickle.inbox_mark_processed(${inbox}, ${event_id})`);
  }
  return rows.length;
}

async function ship(tx, eventId, payload) {
  if (payload.order_id === undefined) throw new Error("no order_id");
  await tx.execute(sql`insert into shipments (event_id, order_id) values (hashtext(${eventId}), ${payload.order_id})`);
}

process.on("SIGTERM", () => (stopped = true));
const pool = new pg.Pool({ connectionString: process.argv[2], max: 1 });
// A connection that is lost must not end the process: the pool replaces it.
pool.on("connect", (client) => client.on("error", (failure) => console.error(failure.message)));
pool.on("error", () => {}); // the same, of an idle one
await run(pool, process.argv[3], ship);
await pool.end();

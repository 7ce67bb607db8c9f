// Keeps the newest event of each key in another database: node latest.mjs DSN TARGET_DSN GROUP CONSUMER
import pg from "pg";

const BATCH = 200; // the most rows of a poll
const LEASE = 5; // the visibility timeout, in seconds
const PAUSE = 50; // milliseconds between polls that find nothing

let stopped = false;
const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

// run consumes until the process is asked to stop, and then finishes the rows at hand. The pools connect again where a connection is lost.
async function run(source, target, group, consumer) {
  while (!stopped) {
    try {
      if ((await batch(source, target, group, consumer)) === 0) await pause(PAUSE);
    } catch (failure) {
      console.error(`events are tried again: ${failure.message}`); // the next poll brings the rows again, to this consumer or another one
      await pause(PAUSE);
    }
  }
}

// batch stores the newest event of each key, and commits the offset after that. It returns the number of rows. An event that is older than what is
// stored changes nothing, so it does no harm if rows come again, in any order or to two consumers.
async function batch(source, target, group, consumer) {
  const { rows } = await source.query(
    "select id, aggregate_id as key, payload, lease_id from events.poll_outbox($1, $2, $3, $4) order by id",
    [group, consumer, BATCH, LEASE],
  );
  if (rows.length === 0) return 0;
  const newest = new Map(rows.filter((row) => row.key).map((row) => [row.key, row]));
  await target.query(
    `insert into latest (key, id, payload)
     select key, id, payload from jsonb_to_recordset($1::jsonb) e (key text, id bigint, payload jsonb) order by key
     on conflict (key) do update set id = excluded.id, payload = excluded.payload where excluded.id > latest.id`,
    [JSON.stringify([...newest.values()])], // in the order of keys: consumers that wait for each other's keys do so in one order
  );
  const last = rows[rows.length - 1];
  await source.query("select events.commit_offset($1, $2, $3, $4)", [group, consumer, last.id, last.lease_id]);
  return rows.length;
}

process.on("SIGTERM", () => (stopped = true));
const [dsn, targetDSN, group, consumer] = process.argv.slice(2);
const pools = [dsn, targetDSN].map((connectionString) => new pg.Pool({ connectionString, max: 1 }));
for (const pool of pools) pool.on("error", (failure) => console.error(failure.message)); // of an idle connection, which the pool replaces
await run(...pools, group, consumer);
await Promise.all(pools.map((pool) => pool.end()));

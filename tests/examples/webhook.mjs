// Receives signed webhooks into an inbox: WEBHOOK_SECRET=whsec_… node webhook.mjs DSN INBOX PORT
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import pg from "pg";

const LARGEST = 1 << 20; // bytes of a body
const TOLERANCE = 300; // seconds between the sender's clock and ours

const [dsn, inbox, port] = process.argv.slice(2);
const key = Buffer.from(process.env.WEBHOOK_SECRET.replace(/^whsec_/, ""), "base64");
const pool = new pg.Pool({ connectionString: dsn, max: 5 });
pool.on("error", (failure) => console.error(failure.message)); // of an idle connection, which the pool replaces

// isSigned tells whether a request is signed as Standard Webhooks has it, and not a recording of an old one.
function isSigned(headers, body) {
  const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures } = headers;
  if (!id || !signatures || !(Math.abs(Date.now() / 1000 - Number(timestamp)) <= TOLERANCE)) return false;
  const right = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
  return signatures.split(" ").some((text) => {
    const given = Buffer.from(text.replace(/^v1,/, ""), "base64");
    return given.length === right.length && timingSafeEqual(given, right); // in constant time
  });
}

async function read(request) {
  const parts = [];
  let length = 0;
  for await (const part of request.iterator({ destroyOnReturn: false })) {
    if ((length += part.length) > LARGEST) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

// receive returns the status: a sender repeats what is not answered with 2xx, and may repeat what is, so the inbox drops duplicates.
async function receive(request) {
  if (request.method !== "POST") return 405;
  const body = await read(request);
  if (body === undefined) return 413;
  if (!isSigned(request.headers, body)) return 401;
  let event;
  try {
    event = JSON.parse(body);
  } catch {
    return 400;
  }
  if (event?.type === undefined) return 400;
  const row = [inbox, request.headers["webhook-id"], String(event.type), body.toString()];
  try {
    await pool.query("select pgtrickle.inbox_receive($1, $2, $3, $4::jsonb)", row);
  } catch (failure) {
    if (failure.code?.startsWith("22")) return 400; // such as a null character
    console.error(`not received: ${failure.message}`);
    return 503;
  }
  return 204; // only now: the message is committed
}

const server = createServer(async (request, answer) => {
  try {
    answer.writeHead(await receive(request), { Connection: "close" }).end();
  } catch {
    request.destroy(); // the sender went away
  }
});
process.on("SIGTERM", () => server.close(() => pool.end())); // requests at hand are finished
server.listen(Number(port), "127.0.0.1");

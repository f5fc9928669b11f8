// A receiver under test in its own process: @posthorn/receiver in one of its modes, a hand-written one, or a bare handler
// that only reads and responds. All use Node's http and the same handler: one insert.
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createReceiver, memoryStore, posthorn, type RequestHandler } from "@posthorn/receiver";
import { nodeHandler } from "@posthorn/receiver/node";
import { postgresStore } from "@posthorn/receiver/postgres";
import pg from "pg";
import { listen } from "../system/ports.ts";
import { handleMessages } from "../system/subprocess.ts";

export type ReceiverKind = "bare" | "memory" | "by hand" | "transactional" | "lease";

export interface ReceiverSetup {
  readonly kind: ReceiverKind;
  readonly secret: string;
  readonly database: string;
}

let handled = 0;

handleMessages({ start, handled: () => handled });

async function start(setup: ReceiverSetup): Promise<number> {
  return await listen(createServer(await listenerOf(setup)));
}

async function listenerOf({ kind, secret, database }: ReceiverSetup): Promise<RequestListener> {
  if (kind === "bare") return (request, response) => void respondBare(request, response);
  const sources = [posthorn({ secrets: [secret] })];
  if (kind === "memory") {
    const receiver = createReceiver({ sources, store: memoryStore() }).fallback(async () => {
      handled += 1;
    });
    return listening(receiver);
  }
  const pool = new pg.Pool({ connectionString: database });
  await pool.query("create table effects (event_id text not null, data text not null)");
  if (kind === "by hand") {
    await pool.query("create table seen (id text primary key, at timestamptz not null default now())");
    return (request, response) => void respondByHand(request, response, pool, keyOf(secret));
  }
  const store = postgresStore(pool);
  await store.migrate();
  const receiver = createReceiver({ sources, store, mode: kind });
  receiver.fallback(async ({ id, data }, context) => {
    await (kind === "lease" ? pool : context.tx).query(insertEffect, [id, JSON.stringify(data)]);
    handled += 1;
  });
  return listening(receiver);
}

function listening(receiver: RequestHandler): RequestListener {
  const handler = nodeHandler(receiver);
  return (request, response) => void handler(request, response);
}

const insertEffect = "insert into effects (event_id, data) values ($1, $2)";

async function respondBare(request: IncomingMessage, response: ServerResponse): Promise<void> {
  await bodyOf(request);
  handled += 1;
  response.end("ok");
}

/** A correct hand-written receiver: raw bytes, constant-time comparison, tolerance, and the effect in the same transaction. */
async function respondByHand(
  request: IncomingMessage,
  response: ServerResponse,
  pool: pg.Pool,
  key: Buffer,
): Promise<void> {
  const body = await bodyOf(request);
  const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": given } = request.headers;
  const made = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
  const sent = Buffer.from(String(given).slice("v1,".length), "base64");
  const isTimely = Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300;
  if (sent.length !== made.length || !timingSafeEqual(sent, made) || !isTimely) {
    response.writeHead(401).end();
    return;
  }
  const { data } = JSON.parse(body.toString());
  const client = await pool.connect();
  try {
    await client.query("begin");
    const seen = await client.query("insert into seen (id) values ($1) on conflict do nothing", [id]);
    if (seen.rowCount === 1) {
      await client.query(insertEffect, [id, JSON.stringify(data)]);
      handled += 1;
    }
    await client.query("commit");
    response.end("ok");
  } catch {
    await client.query("rollback");
    response.writeHead(500).end();
  } finally {
    client.release();
  }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces);
}

function keyOf(secret: string): Buffer {
  return Buffer.from(secret.slice("whsec_".length), "base64");
}

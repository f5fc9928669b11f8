// The upper bound on this machine: one process that receives, stores, signs, sends and records, each batch in one
// statement, without tenants, retries, limits, leases or checks.
import { createHmac, createSecretKey, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { uuidv7 } from "@posthorn/wire";
import pg from "pg";
import { Agent, type Dispatcher, Pool } from "undici";
import {
  byteaArray,
  int2Array,
  int4Array,
  uuidArray,
} from "../../packages/posthorn/src/storage/binary-array.ts";
import { listen } from "../system/ports.ts";
import { handleMessages } from "../system/subprocess.ts";
import { endpointCount, tenantOf, typeOf } from "../workload.ts";

export interface CeilingOptions {
  readonly database: string;
  readonly receivers: readonly string[];
}

interface Item {
  readonly id: string;
  readonly endpoint: number;
  readonly payload: Buffer;
  readonly request: Accepted;
  status: number;
}

interface Accepted {
  readonly response: ServerResponse;
  readonly ids: readonly string[];
  /** Number of its events that are not stored yet. */
  open: number;
}

// The same values as in Posthorn's dispatcher and engine.
const agent = new Agent({
  factory: (origin, settings) => new Pool(origin, settings),
  connections: 128,
  pipelining: 1,
  keepAliveTimeout: 4_000,
  headersTimeout: 0,
  bodyTimeout: 0,
});
const maxInFlight = 500;
const maxBatch = 500;

const key = createSecretKey(randomBytes(32));
const endpoints = new Map<string, number>();
let origins: readonly string[] = [];
let ingest: pg.Client;
let record: pg.Client;

let toStore: Item[] = [];
let toSend: Item[] = [];
let nextToSend = 0;
let toRecord: Item[] = [];
let isStoring = false;
let isRecording = false;
let inFlight = 0;
let settled = 0;

handleMessages({ start, settled: () => settled });

async function start({ database, receivers }: CeilingOptions): Promise<number> {
  for (let index = 0; index < endpointCount; index += 1)
    endpoints.set(tenantOf(index) + typeOf(index), index);
  origins = receivers;
  ingest = await connected(database);
  record = await connected(database);
  await ingest.query(
    "create table events (id uuid primary key, endpoint integer not null, payload bytea not null)",
  );
  await ingest.query("create table results (id uuid primary key, status smallint not null)");
  return await listen(createServer(receive));
}

async function connected(database: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database });
  await client.connect();
  return client;
}

function receive(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () =>
    accept(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks), response),
  );
}

interface Posted {
  readonly tenant: string;
  readonly type: string;
  readonly data: unknown;
}

function accept(body: Buffer, response: ServerResponse): void {
  const posted = JSON.parse(body.toString()) as Posted | Posted[];
  const events = Array.isArray(posted) ? posted : [posted];
  const ids = events.map(() => uuidv7());
  const request: Accepted = { response, ids, open: events.length };
  for (const [index, { tenant, type, data }] of events.entries()) {
    const endpoint = endpoints.get(tenant + type) as number;
    const payload = Buffer.from(JSON.stringify(data));
    toStore.push({ id: ids[index] as string, endpoint, payload, request, status: 0 });
  }
  if (!isStoring) void store();
}

async function store(): Promise<void> {
  isStoring = true;
  await new Promise((resolve) => setImmediate(resolve));
  while (toStore.length > 0) {
    const batch = toStore.slice(0, maxBatch);
    toStore = toStore.slice(maxBatch);
    await ingest.query({
      name: "ingest",
      text: "insert into events (id, endpoint, payload) select * from unnest($1::uuid[], $2::integer[], $3::bytea[])",
      values: [
        uuidArray(batch.map((item) => item.id)),
        int4Array(batch.map((item) => item.endpoint)),
        byteaArray(batch.map((item) => item.payload)),
      ],
    });
    for (const item of batch) {
      item.request.open -= 1;
      if (item.request.open === 0) respond(item.request);
      toSend.push(item);
    }
    pump();
  }
  isStoring = false;
}

function respond({ response, ids }: Accepted): void {
  const body = JSON.stringify(ids);
  response.writeHead(202, ["Content-Type", "application/json", "Content-Length", String(body.length)]);
  response.end(body);
}

function pump(): void {
  while (inFlight < maxInFlight && nextToSend < toSend.length) {
    send(toSend[nextToSend] as Item);
    nextToSend += 1;
  }
  if (nextToSend === toSend.length || nextToSend > 1_000) {
    toSend = toSend.slice(nextToSend);
    nextToSend = 0;
  }
}

function send(item: Item): void {
  inFlight += 1;
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac("sha256", key)
    .update(`${item.id}.${timestamp}.`)
    .update(item.payload)
    .digest("base64");
  const headers = [
    "content-type",
    "application/json",
    "webhook-id",
    item.id,
    "webhook-timestamp",
    timestamp,
    "webhook-signature",
    `v1,${signature}`,
  ];
  const origin = origins[item.endpoint] as string;
  agent.dispatch({ origin, path: "/", method: "POST", headers, body: item.payload }, new Handler(item));
}

class Handler implements Dispatcher.DispatchHandler {
  readonly #item: Item;

  constructor(item: Item) {
    this.#item = item;
  }

  onRequestStart(): void {}

  onResponseStart(_controller: unknown, status: number): void {
    this.#item.status = status;
  }

  onResponseData(): void {}

  onResponseEnd(): void {
    inFlight -= 1;
    toRecord.push(this.#item);
    if (!isRecording) void recordResults();
    if (toSend.length > 0) pump();
  }

  onResponseError(_controller: unknown, error: Error): void {
    throw error;
  }
}

async function recordResults(): Promise<void> {
  isRecording = true;
  await new Promise((resolve) => setImmediate(resolve));
  while (toRecord.length > 0) {
    const batch = toRecord.slice(0, maxBatch);
    toRecord = toRecord.slice(maxBatch);
    await record.query({
      name: "record",
      text: "insert into results (id, status) select * from unnest($1::uuid[], $2::smallint[])",
      values: [uuidArray(batch.map((item) => item.id)), int2Array(batch.map((item) => item.status))],
    });
    settled += batch.length;
  }
  isRecording = false;
}

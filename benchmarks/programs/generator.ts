// A minimal load generator: requests are built beforehand and only their numbers change. Each connection has one request in
// flight. It records when each event was sent and when its 202 arrived.
import { setTimeout as delay } from "node:timers/promises";
import { monotonicMs } from "../system/monotonic.ts";
import { handleMessages } from "../system/subprocess.ts";
import { digits, endpointCount, eventJson, numberMark, tenantOf, typeOf, writeDigits } from "../workload.ts";
import { openConnection } from "./load-connection.ts";

export interface Load {
  readonly port: number;
  readonly key: string;
  /** Events per request; 1 sends an object, more an array. */
  readonly batch: number;
  readonly connections: number;
  /** The run ends with the first limit reached. */
  readonly durationMs: number;
  readonly maxEvents: number;
  /** Events per second; null: as fast as responses arrive. */
  readonly rate: number | null;
  /** The numbers of the endpoints that get the events; all by default. */
  readonly endpoints?: EndpointRange;
}

export interface EndpointRange {
  readonly first: number;
  readonly count: number;
}

export interface LoadResult {
  readonly startedAt: number;
  /** Events acknowledged with 202. */
  readonly accepted: number;
  /** Indexed by event number. */
  readonly sentAt: Float64Array;
  readonly acceptedAt: Float64Array;
}

handleMessages({ run });

async function run(load: Load): Promise<LoadResult> {
  const { port, batch, durationMs, maxEvents, rate } = load;
  const sentAt = new Float64Array(maxEvents);
  const acceptedAt = new Float64Array(maxEvents);
  const opening = Array.from({ length: load.connections }, () => openConnection(port, 202));
  const connections = await Promise.all(opening);
  const startedAt = monotonicMs();
  let next = 0;
  let accepted = 0;
  /** With a rate, each connection waits until its next event is due; a late event is sent at once. */
  const sendAll = async (connection: (typeof connections)[number], index: number): Promise<void> => {
    const request = new PublishRequest(load, index);
    while (next + batch <= maxEvents) {
      const first = next;
      const waitMs = rate === null ? 0 : startedAt + (first * 1000) / rate - monotonicMs();
      if (monotonicMs() + Math.max(0, waitMs) >= startedAt + durationMs) return;
      next += batch;
      if (waitMs > 0) await delay(waitMs);
      sentAt.fill(monotonicMs(), first, first + batch);
      await connection.send(request.numberedFrom(first));
      acceptedAt.fill(monotonicMs(), first, first + batch);
      accepted += batch;
    }
  };
  try {
    await Promise.all(connections.map(sendAll));
  } finally {
    for (const connection of connections) connection.close();
  }
  return { startedAt, accepted, sentAt: sentAt.slice(0, next), acceptedAt: acceptedAt.slice(0, next) };
}

class PublishRequest {
  readonly #bytes: Buffer;
  /** Positions of tenant, type and number of each event in the request. */
  readonly #offsets: readonly { tenant: number; type: number; number: number }[];
  readonly #endpoints: EndpointRange;
  #step: number;

  constructor({ batch, key, port, endpoints = { first: 0, count: endpointCount } }: Load, index: number) {
    this.#endpoints = endpoints;
    this.#step = index * 37;
    const events = Array.from({ length: batch }, () => eventJson(0, 0));
    const body = batch === 1 ? (events[0] as string) : `[${events.join(",")}]`;
    const head = [
      "POST /api/v1/events HTTP/1.1",
      `Host: 127.0.0.1:${port}`,
      `Authorization: Bearer ${key}`,
      "Content-Type: application/json",
      `Content-Length: ${Buffer.byteLength(body)}`,
    ];
    this.#bytes = Buffer.from(`${head.join("\r\n")}\r\n\r\n${body}`);
    this.#offsets = findOffsets(this.#bytes);
  }

  numberedFrom(first: number): Buffer {
    for (const [index, offset] of this.#offsets.entries()) {
      // 7 is coprime to the number of endpoints, so every connection visits all of them
      this.#step = (this.#step + 7) % this.#endpoints.count;
      const endpoint = this.#endpoints.first + this.#step;
      this.#bytes.write(tenantOf(endpoint), offset.tenant, "latin1");
      this.#bytes.write(typeOf(endpoint), offset.type, "latin1");
      writeDigits(this.#bytes, offset.number, digits, first + index);
    }
    return this.#bytes;
  }
}

function findOffsets(request: Buffer): { tenant: number; type: number; number: number }[] {
  const offsets = [];
  for (let from = 0; ; ) {
    const tenant = request.indexOf(tenantOf(0), from);
    if (tenant === -1) return offsets;
    const number = request.indexOf(numberMark, tenant) + numberMark.length;
    offsets.push({ tenant, type: request.indexOf(typeOf(0), tenant), number });
    from = number;
  }
}

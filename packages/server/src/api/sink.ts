// A test receiver that records requests and returns the status, delay and body given in the URL. Its memory is bounded,
// because it accepts requests without authentication. It does not verify signatures.
import type { IncomingMessage } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { z } from "zod";
import type { ProcessGroup } from "../processes/process-group.ts";
import type { Exchange } from "./exchange.ts";
import { NO_PARAMETERS, readQuery } from "./input/query.ts";
import { onRequestEnd } from "./on-request-end.ts";
import { json, type Reply } from "./reply.ts";
import { publicRoute, type Route, type RoutePermission } from "./router.ts";

export const SINK_LIMITS = {
  ids: 1_000,
  requestsPerId: 100,
  bodyBytes: 256 * 1024,
  totalBytes: 64 * 1024 * 1024,
  delayMs: 60_000,
} as const;

export interface SinkRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** True if the body was longer than the limit. */
  readonly truncated: boolean;
  readonly receivedAt: Date;
}

export class Sink {
  /** Least recently used first. */
  readonly #rings = new Map<string, SinkRequest[]>();
  readonly #waiters = new Set<(id: string, request: SinkRequest) => void>();
  readonly #closed = new AbortController();
  #bytes = 0;

  /** Newest first. */
  requests(id: string): readonly SinkRequest[] {
    return [...(this.#rings.get(id) ?? [])].reverse();
  }

  record(id: string, request: SinkRequest): void {
    const ring = this.#rings.get(id) ?? [];
    this.#rings.delete(id);
    this.#rings.set(id, ring);
    ring.push(request);
    this.#bytes += sizeOf(request);
    if (ring.length > SINK_LIMITS.requestsPerId) this.#dropOldest(id, ring);
    while (this.#rings.size > SINK_LIMITS.ids || this.#bytes > SINK_LIMITS.totalBytes) this.#evict();
    for (const waiter of this.#waiters) waiter(id, request);
  }

  /** Returns the next matching request, or null after the timeout. */
  next(
    id: string,
    matches: (request: SinkRequest) => boolean,
    timeoutMs: number,
  ): Promise<SinkRequest | null> {
    return new Promise((resolve) => {
      const settle = (request: SinkRequest | null): void => {
        clearTimeout(timer);
        this.#waiters.delete(waiter);
        resolve(request);
      };
      const waiter = (at: string, request: SinkRequest): void => {
        if (at === id && matches(request)) settle(request);
      };
      const timer = setTimeout(() => settle(null), timeoutMs);
      this.#waiters.add(waiter);
    });
  }

  /** Waits; ends early when the sink is closed or the request ends. */
  async delay(ms: number, exchange: Pick<Exchange, "request" | "response">): Promise<void> {
    const ended = new AbortController();
    onRequestEnd(exchange, () => ended.abort());
    const signal = AbortSignal.any([this.#closed.signal, ended.signal]);
    await wait(ms, undefined, { signal }).catch(() => {});
  }

  /** Ends current and future delays, because the server is stopping. */
  close(): void {
    this.#closed.abort();
  }

  #evict(): void {
    const [leastUsed] = this.#rings;
    if (leastUsed) this.#dropOldest(...leastUsed);
  }

  #dropOldest(id: string, ring: SinkRequest[]): void {
    const request = ring.shift();
    if (request) this.#bytes -= sizeOf(request);
    if (ring.length === 0) this.#rings.delete(id);
  }
}

/** Approximate memory use of a recorded request. */
function sizeOf({ path, headers, body }: SinkRequest): number {
  let bytes = 500 + path.length + body.length;
  for (const [name, value] of Object.entries(headers)) bytes += name.length + value.length;
  return bytes;
}

/**
 * `readers` may read the recorded requests, which can contain customer payloads. Each process of a group records what it
 * receives, and all are read together.
 */
export function sinkRoutes(sink: Sink, readers: RoutePermission, group?: ProcessGroup): Route[] {
  group?.respond("sink", (id) => sink.requests(id as string));
  return [
    publicRoute("*", "/sink/{id}", (exchange) => receive(sink, exchange)),
    {
      method: "GET",
      path: "/sink/{id}/requests",
      permission: readers,
      handle: async (exchange) => {
        readQuery(exchange.query, NO_PARAMETERS);
        const id = exchange.params.id ?? "";
        const own = sink.requests(id);
        const requests = group === undefined ? own : newestOf(await group.gather("sink", id, own));
        const data = requests.map(({ receivedAt, ...rest }) => ({ ...rest, received_at: receivedAt }));
        return json(200, { data, next_cursor: null });
      },
    },
  ];
}

/** Joins the requests of several processes, newest first; their times are text after the way through the primary. */
function newestOf(responses: readonly unknown[]): readonly SinkRequest[] {
  return (responses as readonly (readonly SinkRequest[])[])
    .flat()
    .map((request) => ({ ...request, receivedAt: new Date(request.receivedAt) }))
    .sort((a, b) => b.receivedAt.getTime() - a.receivedAt.getTime())
    .slice(0, SINK_LIMITS.requestsPerId);
}

async function receive(sink: Sink, exchange: Exchange): Promise<Reply> {
  const { request, params } = exchange;
  const { status, delay_ms, body } = readQuery(exchange.query, RESPONSE);
  const { text, truncated } = await readStart(request);
  sink.record((params.id ?? "").slice(0, 200), {
    method: request.method ?? "",
    path: request.url ?? "",
    headers: headersOf(request),
    body: text,
    truncated,
    receivedAt: new Date(),
  });
  if (delay_ms > 0) await sink.delay(delay_ms, exchange);
  const hasBody = status !== 204 && status !== 304;
  return { status, contentType: "text/plain; charset=utf-8", ...(hasBody && { body }) };
}

/** Masks credentials that an endpoint sends, so that they are neither stored nor shown. */
function headersOf({ headers }: IncomingMessage): Record<string, string> {
  const shown = Object.entries(headers).map(([name, value]) => {
    const text = Array.isArray(value) ? value.join(", ") : (value ?? "");
    return [name, CREDENTIALS.has(name) ? masked(text) : text] as const;
  });
  return Object.fromEntries(shown);
}

const CREDENTIALS = new Set(["authorization", "proxy-authorization", "cookie"]);

/** Keeps the authentication scheme: `Bearer …`. */
function masked(value: string): string {
  const [, scheme = ""] = /^([A-Za-z][A-Za-z0-9-]{0,31} )./.exec(value) ?? [];
  return `${scheme}…`;
}

const RESPONSE = z.object({
  status: z.int().min(200).max(599).default(200),
  delay_ms: z.int().min(0).max(SINK_LIMITS.delayMs).default(0),
  body: z.string().default("ok"),
});

/** Reads the first 256 KB and discards the rest, so that the sender receives a response. */
async function readStart(request: IncomingMessage): Promise<{ text: string; truncated: boolean }> {
  const chunks: Buffer[] = [];
  let kept = 0;
  let truncated = false;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    const part = chunk.subarray(0, SINK_LIMITS.bodyBytes - kept);
    truncated ||= part.length < chunk.length;
    if (part.length === 0) continue;
    kept += part.length;
    chunks.push(part);
  }
  return { text: Buffer.concat(chunks).toString("utf8"), truncated };
}

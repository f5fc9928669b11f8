// A test receiver that records requests and returns the status, delay and body given in the URL. Its memory is bounded,
// because it accepts requests without authentication. It does not verify signatures.
import type { IncomingMessage } from "node:http";
import { z } from "zod";
import type { Exchange } from "./exchange.ts";
import { NO_PARAMETERS, readQuery } from "./input/query.ts";
import { json, type Reply } from "./reply.ts";
import type { Route, RoutePermission } from "./router.ts";

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
  readonly #delays = new Set<() => void>();
  #bytes = 0;
  #isClosed = false;

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

  /** Waits; ends early when the sink is closed or the client disconnects. */
  delay(ms: number, request: IncomingMessage): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#delays.delete(end);
        request.off("close", onClose);
        resolve();
      };
      // An IncomingMessage also emits close after its body was read.
      const onClose = (): void => {
        if (request.socket.destroyed) end();
      };
      const timer = setTimeout(end, ms);
      this.#delays.add(end);
      request.on("close", onClose);
    });
  }

  /** Ends all delays, now and from now on, because the server is about to stop. */
  close(): void {
    this.#isClosed = true;
    for (const end of this.#delays) end();
  }

  #evict(): void {
    const [oldest] = this.#rings;
    if (oldest) this.#dropOldest(...oldest);
    if (this.#rings.size > SINK_LIMITS.ids && oldest) this.#dropAll(...oldest);
  }

  #dropOldest(id: string, ring: SinkRequest[]): void {
    const request = ring.shift();
    if (request) this.#bytes -= sizeOf(request);
    if (ring.length === 0) this.#rings.delete(id);
  }

  #dropAll(id: string, ring: SinkRequest[]): void {
    while (ring.length > 0) this.#dropOldest(id, ring);
    this.#rings.delete(id);
  }
}

/** Approximate memory use of a recorded request. */
function sizeOf({ path, headers, body }: SinkRequest): number {
  let bytes = 500 + path.length + body.length;
  for (const [name, value] of Object.entries(headers)) bytes += name.length + value.length;
  return bytes;
}

/** `readers` may read the recorded requests, which can contain customer payloads. */
export function sinkRoutes(sink: Sink, readers: RoutePermission): Route[] {
  return [
    { method: "*", path: "/sink/{id}", permission: "public", handle: (exchange) => receive(sink, exchange) },
    {
      method: "GET",
      path: "/sink/{id}/requests",
      permission: readers,
      handle: (exchange) => {
        readQuery(exchange.query, NO_PARAMETERS);
        const data = sink.requests(exchange.params.id ?? "").map(presentRequest);
        return json(200, { data, next_cursor: null });
      },
    },
  ];
}

function presentRequest(request: SinkRequest): object {
  const { method, path, headers, body, truncated, receivedAt } = request;
  return { method, path, headers, body, truncated, received_at: receivedAt };
}

async function receive(sink: Sink, exchange: Exchange): Promise<Reply> {
  const { request, params } = exchange;
  const reply = readResponse(exchange);
  const { text, truncated } = await readStart(request);
  sink.record((params.id ?? "").slice(0, 200), {
    method: request.method ?? "",
    path: request.url ?? "",
    headers: headersOf(request),
    body: text,
    truncated,
    receivedAt: new Date(),
  });
  if (reply.delayMs > 0) await sink.delay(reply.delayMs, request);
  const hasBody = reply.status !== 204 && reply.status !== 304;
  return {
    status: reply.status,
    contentType: "text/plain; charset=utf-8",
    ...(hasBody && { body: reply.body }),
  };
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

interface SinkResponse {
  readonly status: number;
  readonly delayMs: number;
  readonly body: string;
}

const RESPONSE = z.object({
  status: z.int().min(200).max(599).default(200),
  delay_ms: z.int().min(0).max(SINK_LIMITS.delayMs).default(0),
  body: z.string().default("ok"),
});

function readResponse({ query }: Exchange): SinkResponse {
  const { status, delay_ms: delayMs, body } = readQuery(query, RESPONSE);
  return { status, delayMs, body };
}

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

// An HTTP server on loopback that responds by script and records all requests.
import { EventEmitter, once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { refuseUnknown } from "../did-you-mean.ts";

/**
 * `hang`: never responds. `reset`: closes the connection without a response. `drip`: 200, then a byte now and then.
 * `endless`: 200 and an endless body.
 */
export type Misbehaviour = "hang" | "reset" | "drip" | "endless";

export interface ScriptedAnswer {
  /** Default 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly delayMs?: number;
  /** Responds when this settles. */
  readonly until?: Promise<unknown>;
}

export type ScriptedStep = ScriptedAnswer | Misbehaviour | number;

export interface ReceivedRequest {
  readonly method: string;
  /** Path without the query. */
  readonly path: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  /** Monotonic milliseconds (`performance.now()`). */
  readonly receivedAt: number;
}

export interface Concurrency {
  readonly now: number;
  readonly max: number;
}

export interface ReceivedOptions {
  readonly path?: string;
  /** Default 20 s. */
  readonly timeoutMs?: number;
}

export async function startScriptedReceiver(): Promise<LoopbackReceiver> {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  return new LoopbackReceiver(server);
}

export type { LoopbackReceiver as ScriptedReceiver };

type Step = ScriptedAnswer | Misbehaviour;

class LoopbackReceiver {
  readonly #requests: ReceivedRequest[] = [];
  readonly #server: Server;
  readonly #scripts = new Map<string, Step[]>();
  readonly #concurrency = new Map<string, { now: number; max: number }>();
  /** Emits `change` when a request has arrived or the receiver is closed, and `idle` when none is in progress. */
  readonly #signals = new EventEmitter().setMaxListeners(0);
  #connections = 0;
  #isClosed = false;

  constructor(server: Server) {
    this.#server = server;
    server.on("request", (request, response) => this.#collect(request, response));
    server.on("connection", () => {
      this.#connections += 1;
    });
  }

  /** All requests, in order of arrival of their last byte. */
  get requests(): readonly ReceivedRequest[] {
    return this.#requests;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** `http://127.0.0.1:<port>` */
  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Number of accepted connections. */
  get connections(): number {
    return this.#connections;
  }

  /** One response per request to this path; the last one repeats. A number is a status. Other paths respond with 200. */
  answer(path: string, script: ScriptedStep | readonly ScriptedStep[]): void {
    if (typeof path !== "string" || !path.startsWith("/")) {
      throw new TypeError('answer takes a path and its script: answer("/orders", [500, 200]).');
    }
    this.#scripts.set(path, [script].flat().map(readStep));
  }

  requestsTo(path: string): readonly ReceivedRequest[] {
    return this.requests.filter((request) => request.path === path);
  }

  /** Requests in progress, and their maximum, for one path or all. */
  concurrency(path?: string): Concurrency {
    return { ...(this.#concurrency.get(path ?? ALL_PATHS) ?? { now: 0, max: 0 }) };
  }

  /** Resolves with all requests (to `path`) as soon as there are `count`; rejects after the timeout. */
  async received(
    count: number,
    { path, timeoutMs = 20_000 }: ReceivedOptions = {},
  ): Promise<readonly ReceivedRequest[]> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), timeoutMs);
    try {
      while (this.#seen(path).length < count) {
        if (this.#isClosed) throw new Error("The receiver was closed while waiting for requests.");
        await once(this.#signals, "change", { signal: late.signal });
      }
      return this.#seen(path);
    } catch (error) {
      throw late.signal.aborted ? new Error(this.#missing(count, path, timeoutMs)) : error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Resolves when no request is in progress. */
  async idle(): Promise<void> {
    if (this.concurrency().now > 0) await once(this.#signals, "idle");
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#signals.emit("change");
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  #collect(request: IncomingMessage, response: ServerResponse): void {
    const url = request.url ?? "/";
    const path = url.split("?", 1)[0] ?? url;
    const chunks: Buffer[] = [];
    this.#enter(path, response);
    response.on("error", () => {});
    request.on("error", () => {});
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks);
      const { method = "", headers } = request;
      this.#requests.push({ method, path, url, headers, body, receivedAt: performance.now() });
      this.#signals.emit("change");
      play(this.#nextStep(path), response);
    });
  }

  #nextStep(path: string): Step {
    const script = this.#scripts.get(path);
    const [first = {}] = script ?? [];
    if (script !== undefined && script.length > 1) script.shift();
    return first;
  }

  #enter(path: string, response: ServerResponse): void {
    for (const key of [path, ALL_PATHS]) {
      const count = this.#concurrency.get(key) ?? { now: 0, max: 0 };
      count.now += 1;
      count.max = Math.max(count.max, count.now);
      this.#concurrency.set(key, count);
      // "close" is emitted after the response is written, and also when the connection breaks
      response.once("close", () => {
        count.now -= 1;
        if (key === ALL_PATHS && count.now === 0) this.#signals.emit("idle");
      });
    }
  }

  #seen(path: string | undefined): readonly ReceivedRequest[] {
    return path === undefined ? [...this.requests] : this.requestsTo(path);
  }

  #missing(count: number, path: string | undefined, timeoutMs: number): string {
    const byPath = new Map<string, number>();
    for (const request of this.requests) byPath.set(request.path, (byPath.get(request.path) ?? 0) + 1);
    const others = [...byPath].map(([name, times]) => `${name}: ${times}`).join(", ");
    const wanted = `${count} request${count === 1 ? "" : "s"}${path === undefined ? "" : ` to ${path}`}`;
    return `Waited ${timeoutMs} ms for ${wanted}, got ${this.#seen(path).length}. Received so far: ${others || "nothing"}.`;
  }
}

const ALL_PATHS = "*";

const MISBEHAVIOURS: readonly unknown[] = ["hang", "reset", "drip", "endless"] satisfies Misbehaviour[];
const ANSWER_FIELDS = ["status", "headers", "body", "delayMs", "until"] satisfies (keyof ScriptedAnswer)[];

/** Rejects a misspelt script, which would otherwise respond with 200 and let the test pass. */
function readStep(step: ScriptedStep): Step {
  const answer = typeof step === "number" ? { status: step } : step;
  if (MISBEHAVIOURS.includes(answer)) return answer;
  if (typeof answer !== "object" || answer === null) {
    const known = MISBEHAVIOURS.join(", ");
    throw new TypeError(
      `"${String(answer)}" is not a response. Give a status, an object, or one of ${known}.`,
    );
  }
  refuseUnknown("A response has no", answer, ANSWER_FIELDS);
  const { status = 200 } = answer as ScriptedAnswer;
  if (!Number.isInteger(status) || status < 100 || status > 999) {
    throw new TypeError(`${status} is not an HTTP status.`);
  }
  return answer;
}

function play(step: Step, response: ServerResponse): void {
  if (step === "hang") return;
  if (step === "reset") response.socket?.resetAndDestroy();
  else if (step === "drip") drip(response);
  else if (step === "endless") pourForEver(response);
  else reply(step, response);
}

function reply(
  { status = 200, headers = {}, body = "", delayMs = 0, until }: ScriptedAnswer,
  response: ServerResponse,
): void {
  const write = () => void response.writeHead(status, headers).end(body);
  const afterDelay = () => (delayMs > 0 ? void setTimeout(write, delayMs).unref() : write());
  if (until === undefined) afterDelay();
  else until.then(afterDelay, afterDelay);
}

function drip(response: ServerResponse): void {
  response.writeHead(200).write(".");
  const timer = setInterval(() => {
    if (response.destroyed) clearInterval(timer);
    else response.write(".");
  }, 10);
}

function pourForEver(response: ServerResponse): void {
  const block = Buffer.alloc(16 * 1024, "x");
  const pour = () => {
    while (!response.destroyed && response.write(block));
  };
  response.writeHead(200).on("drain", pour);
  pour();
}

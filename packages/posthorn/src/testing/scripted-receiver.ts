// An HTTP server on loopback that responds by script and records all requests.
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
  /** Default 5 s. */
  readonly timeoutMs?: number;
}

export interface ScriptedReceiver {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  readonly port: number;
  /** All requests, in order of arrival of their last byte. */
  readonly requests: readonly ReceivedRequest[];
  /** Number of accepted connections. */
  readonly connections: number;
  /** One response per request to this path; the last one repeats. A number is a status. Other paths respond with 200. */
  answer(path: string, script: ScriptedStep | readonly ScriptedStep[]): void;
  requestsTo(path: string): readonly ReceivedRequest[];
  /** Requests in progress, and their maximum, for one path or all. */
  concurrency(path?: string): Concurrency;
  /** Resolves with all requests (to `path`) as soon as there are `count`; rejects after the timeout. */
  received(count: number, options?: ReceivedOptions): Promise<readonly ReceivedRequest[]>;
  /** Resolves when no request is in progress. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

export async function startScriptedReceiver(): Promise<ScriptedReceiver> {
  const receiver = new LoopbackReceiver();
  await receiver.listen();
  return receiver;
}

type Step = ScriptedAnswer | Misbehaviour;

interface Waiter {
  readonly count: number;
  readonly path: string | undefined;
  readonly timer: NodeJS.Timeout;
  readonly resolve: (requests: readonly ReceivedRequest[]) => void;
  readonly reject: (error: Error) => void;
}

class LoopbackReceiver implements ScriptedReceiver {
  readonly requests: ReceivedRequest[] = [];
  readonly #server: Server;
  readonly #scripts = new Map<string, Step[]>();
  readonly #concurrency = new Map<string, { now: number; max: number }>();
  readonly #waiters = new Set<Waiter>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #onIdle: (() => void)[] = [];
  #connections = 0;

  constructor() {
    this.#server = createServer((request, response) => this.#collect(request, response));
    this.#server.on("connection", () => {
      this.#connections += 1;
    });
  }

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject).listen(0, "127.0.0.1", resolve);
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get connections(): number {
    return this.#connections;
  }

  answer(path: string, script: ScriptedStep | readonly ScriptedStep[]): void {
    if (typeof path !== "string" || !path.startsWith("/")) {
      throw new TypeError('answer takes a path and its script: answer("/orders", [500, 200]).');
    }
    this.#scripts.set(path, [script].flat().map(readStep));
  }

  requestsTo(path: string): readonly ReceivedRequest[] {
    return this.requests.filter((request) => request.path === path);
  }

  concurrency(path?: string): Concurrency {
    return { ...(this.#concurrency.get(path ?? ALL_PATHS) ?? { now: 0, max: 0 }) };
  }

  received(
    count: number,
    { path, timeoutMs = 5_000 }: ReceivedOptions = {},
  ): Promise<readonly ReceivedRequest[]> {
    const seen = this.#seen(path);
    if (seen.length >= count) return Promise.resolve(seen);
    return new Promise((resolve, reject) => {
      const timer = this.#startTimer(timeoutMs, () => {
        this.#waiters.delete(waiter);
        reject(new Error(this.#missing(count, path, timeoutMs)));
      });
      const waiter: Waiter = { count, path, timer, resolve, reject };
      this.#waiters.add(waiter);
    });
  }

  idle(): Promise<void> {
    if (this.concurrency().now === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onIdle.push(resolve);
    });
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    for (const waiter of this.#waiters)
      waiter.reject(new Error("The receiver was closed while waiting for requests."));
    this.#waiters.clear();
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
      this.requests.push({ method, path, url, headers, body, receivedAt: performance.now() });
      this.#wake();
      this.#play(this.#nextStep(path), response);
    });
  }

  #nextStep(path: string): Step {
    const script = this.#scripts.get(path);
    const [first = {}] = script ?? [];
    if (script !== undefined && script.length > 1) script.shift();
    return first;
  }

  #play(step: Step, response: ServerResponse): void {
    if (step === "hang") return;
    if (step === "reset") response.socket?.resetAndDestroy();
    else if (step === "drip") this.#drip(response);
    else if (step === "endless") pourForEver(response);
    else this.#reply(step, response);
  }

  #reply(
    { status = 200, headers = {}, body = "", delayMs = 0, until }: ScriptedAnswer,
    response: ServerResponse,
  ): void {
    const write = () => {
      response.writeHead(status, headers).end(body);
    };
    const afterDelay = () => (delayMs > 0 ? void this.#startTimer(delayMs, write) : write());
    if (until === undefined) afterDelay();
    else until.then(afterDelay, afterDelay);
  }

  #drip(response: ServerResponse): void {
    response.writeHead(200);
    const drop = () => {
      if (response.destroyed) return;
      response.write(".");
      this.#startTimer(10, drop);
    };
    drop();
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
        if (key === ALL_PATHS && count.now === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
      });
    }
  }

  #wake(): void {
    for (const waiter of this.#waiters) {
      const seen = this.#seen(waiter.path);
      if (seen.length < waiter.count) continue;
      this.#waiters.delete(waiter);
      this.#stopTimer(waiter.timer);
      waiter.resolve(seen);
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

  #startTimer(delayMs: number, action: () => void): NodeJS.Timeout {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      action();
    }, delayMs);
    this.#timers.add(timer);
    return timer;
  }

  #stopTimer(timer: NodeJS.Timeout): void {
    clearTimeout(timer);
    this.#timers.delete(timer);
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
    throw new TypeError(`"${String(answer)}" is no answer. Give a status, an object, or one of ${known}.`);
  }
  refuseUnknown("An answer has no", answer, ANSWER_FIELDS);
  const { status = 200 } = answer as ScriptedAnswer;
  if (!Number.isInteger(status) || status < 100 || status > 999) {
    throw new TypeError(`${status} is no HTTP status.`);
  }
  return answer;
}

function pourForEver(response: ServerResponse): void {
  const block = Buffer.alloc(16 * 1024, "x");
  const pour = () => {
    while (!response.destroyed && response.write(block));
  };
  response.writeHead(200).on("drain", pour);
  pour();
}

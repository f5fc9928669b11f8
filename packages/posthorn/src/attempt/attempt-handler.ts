// Handles one request in flight: turns undici's callbacks into exactly one AttemptOutcome.
import type { Dispatcher } from "undici";
import type { AttemptOutcome, AttemptPhases, FullResponse } from "../model.ts";
import { classifyError, type ErrorClass } from "./classify-error.ts";
import type { OriginPool } from "./origin-pools.ts";

/** Bytes of a response body that are kept for the log. */
const KEPT_BODY_BYTES = 1024;
/** Bytes that are read so that the connection can be reused: 64 KB take about 45 µs, a new TLS connection 1.2 ms. */
const DRAINED_BODY_BYTES = 64 * 1024;
const MAX_INFORMATIONAL = 32;
const NOTHING = Buffer.alloc(0);

/** Settles exactly once; later callbacks are ignored. */
export class AttemptHandler implements Dispatcher.DispatchHandler {
  readonly #startedAt = performance.now();
  readonly #pool: OriginPool;
  readonly #timeoutMs: number;
  readonly #timer: NodeJS.Timeout;
  readonly #group: AttemptHandler[] | null;
  readonly #onSettled: (pool: OriginPool) => void;
  readonly #resolve: (outcome: AttemptOutcome) => void;
  #controller: Dispatcher.DispatchController | null = null;
  #slot = 0;
  #isSettled = false;
  #statusCode = 0;
  #sentAt = 0;
  #answeredAt = 0;
  /** Null on a reused connection, or without TLS. */
  #tlsMs: number | null = null;
  #isNewConnection = false;
  #informational = 0;
  #retryAfter: string | null = null;
  #kept: Buffer = NOTHING;
  #keptLength = 0;
  #bytesRead = 0;
  readonly #keptBytes: number;
  readonly #drainedBytes: number;
  /** Null if the response is not captured. */
  #headers: FullResponse["headers"] | null;

  constructor(
    pool: OriginPool,
    timeoutMs: number,
    group: AttemptHandler[] | null,
    onSettled: (pool: OriginPool) => void,
    resolve: (outcome: AttemptOutcome) => void,
    wantedBytes: number | null = null,
  ) {
    this.#keptBytes = wantedBytes ?? KEPT_BODY_BYTES;
    this.#drainedBytes = wantedBytes ?? DRAINED_BODY_BYTES;
    this.#headers = wantedBytes === null ? null : {};
    this.#pool = pool;
    pool.waiting += 1;
    this.#timeoutMs = timeoutMs;
    this.#group = group;
    if (group !== null) this.#slot = group.push(this) - 1;
    this.#onSettled = onSettled;
    this.#resolve = resolve;
    // One timer per attempt: Node keeps timers of equal length in one list, so that set and clear take less than 1 µs
    // together.
    this.#timer = setTimeout(onDeadline, timeoutMs, this);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // A request that was aborted while it waited for a connection must not be sent. Nor may undici send one again
    // after its connection broke: the receiver may have processed it.
    if (this.#isSettled || this.#controller !== null) {
      this.#settle(SENT_ONCE);
      controller.abort(ABORTED);
      return;
    }
    this.#controller = controller;
    this.#pool.waiting -= 1;
    this.#sentAt = performance.now();
    const { handedOver } = this.#pool.connectTiming;
    if (handedOver === null) return;
    this.#isNewConnection = true;
    this.#tlsMs = handedOver.tlsMs;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (statusCode < 200) {
      this.#informational += 1;
      if (this.#informational > MAX_INFORMATIONAL) this.#giveUp(TOO_MANY_INFORMATIONAL);
      return;
    }
    this.#statusCode = statusCode;
    this.#answeredAt = performance.now();
    const retryAfter = headers["retry-after"];
    this.#retryAfter = typeof retryAfter === "string" ? retryAfter.slice(0, 100) : null;
    if (this.#headers !== null) this.#headers = joined(headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytesRead += chunk.length;
    this.#keep(chunk);
    if (this.#bytesRead > this.#drainedBytes) this.#giveUp(BODY_TOO_LONG);
  }

  /**
   * Copies the chunk, which is a view of a 64 KB read buffer. The buffer doubles, because a megabyte may come in
   * chunks of one byte.
   */
  #keep(chunk: Buffer): void {
    const length = Math.min(this.#keptLength + chunk.length, this.#keptBytes);
    if (length > this.#kept.length) {
      const larger = Buffer.allocUnsafe(Math.min(Math.max(length, 2 * this.#kept.length), this.#keptBytes));
      this.#kept.copy(larger, 0, 0, this.#keptLength);
      this.#kept = larger;
    }
    chunk.copy(this.#kept, this.#keptLength, 0, length - this.#keptLength);
    this.#keptLength = length;
  }

  onResponseEnd(): void {
    this.#settle(null);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (!this.#isSettled) this.#settle(classifyError(error));
  }

  onDeadline(): void {
    this.#giveUp({ error: "timeout", detail: `no response within ${this.#timeoutMs} ms` });
  }

  cutOff(): void {
    this.#giveUp(CUT_OFF);
  }

  #giveUp(reason: ErrorClass): void {
    if (this.#isSettled) return;
    this.#settle(reason);
    this.#controller?.abort(ABORTED);
  }

  /** The status line decides: after it, a body that breaks, drips or never ends changes nothing. */
  #settle(problem: ErrorClass | null): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    if (this.#controller === null) this.#pool.waiting -= 1;
    clearTimeout(this.#timer);
    this.#leaveGroup();
    this.#onSettled(this.#pool);
    const now = performance.now();
    const durationMs = Math.round(now - this.#startedAt);
    const phases = this.#phases(now);
    if (this.#statusCode === 0) {
      this.#resolve(failed(problem ?? NO_STATUS, durationMs, phases));
      return;
    }
    this.#resolve({
      kind: "answered",
      statusCode: this.#statusCode,
      responseBody: this.#kept.subarray(0, this.#keptLength),
      retryAfter: this.#retryAfter,
      ...(this.#headers !== null && { answer: { headers: this.#headers, isWhole: problem === null } }),
      durationMs,
      phases,
    });
  }

  #phases(now: number): AttemptPhases {
    if (this.#sentAt === 0) return this.#phasesOfConnecting(now);
    const waitedMs = this.#sentAt - this.#startedAt;
    const tlsMs = this.#tlsMs === null ? null : Math.round(Math.min(this.#tlsMs, waitedMs));
    const connectMs = Math.round(waitedMs - (tlsMs ?? 0));
    return {
      connectMs: this.#isNewConnection || connectMs > 0 ? connectMs : null,
      tlsMs,
      firstByteMs: this.#statusCode === 0 ? null : Math.round(this.#answeredAt - this.#sentAt),
    };
  }

  /** The attempt never had a connection: the newest connection of its origin shows how far it got. */
  #phasesOfConnecting(now: number): AttemptPhases {
    const { connectedAt } = this.#pool.connectTiming;
    const isThrough = connectedAt > this.#startedAt;
    return {
      connectMs: Math.round((isThrough ? connectedAt : now) - this.#startedAt),
      tlsMs: isThrough ? Math.round(now - connectedAt) : null,
      firstByteMs: null,
    };
  }

  /** Moves the last handler to the empty index. A Set, whose old tables keep references alive, took 6 µs. */
  #leaveGroup(): void {
    const last = this.#group?.pop();
    if (this.#group === null || last === undefined || last === this) return;
    this.#group[this.#slot] = last;
    last.#slot = this.#slot;
  }
}

function joined(headers: Readonly<Record<string, string | string[] | undefined>>): FullResponse["headers"] {
  const entries = Object.entries(headers).map(([name, value]) => [
    name.toLowerCase(),
    Array.isArray(value) ? value.join(", ") : (value ?? ""),
  ]);
  return Object.fromEntries(entries);
}

const SENT_ONCE: ErrorClass = { error: "connection_reset", detail: "connection closed before a response" };
const CUT_OFF: ErrorClass = { error: "unknown", detail: "cut off because this process is stopping" };
const TOO_MANY_INFORMATIONAL: ErrorClass = { error: "bad_response", detail: "endless 1xx responses" };
const BODY_TOO_LONG: ErrorClass = { error: "bad_response", detail: "response body too long" };
const NO_STATUS: ErrorClass = { error: "bad_response", detail: "no status line" };
const ABORTED = new Error("given up");

// One turn of the event loop later: a response that is already in the socket's buffer was in time.
function onDeadline(handler: AttemptHandler): void {
  setImmediate(() => handler.onDeadline());
}

export function failed(
  { error, detail }: ErrorClass,
  durationMs: number,
  phases: AttemptPhases,
): AttemptOutcome {
  return { kind: "failed", error, detail, durationMs, phases };
}

// Handles one request in flight: turns what happens on its connection into exactly one AttemptOutcome.
import type { AttemptOutcome, AttemptPhases } from "../model.ts";
import type { ErrorClass } from "./classify-error.ts";
import type { Connection } from "./connection.ts";
import type { OriginPool } from "./origin-pools.ts";
import type { ResponseSink } from "./response-parser.ts";

/** Bytes of a response body that are kept for the log. */
const KEPT_BODY_BYTES = 1024;
/** Bytes that are read so that the connection can be reused: 64 KB take about 45 µs, a new TLS connection 1.2 ms. */
const DRAINED_BODY_BYTES = 64 * 1024;
const NOTHING = Buffer.alloc(0);

export interface AttemptRequest {
  /** The request line and the headers, with the empty line. Latin-1. */
  readonly head: string;
  readonly body: Uint8Array;
  readonly timeoutMs: number;
  /** Keeps the response's headers, and its body up to this size. */
  readonly captureResponse?: { readonly maxBodyBytes: number } | undefined;
}

/** One request in flight. It settles exactly once; later calls are ignored. */
export class AttemptHandler implements ResponseSink {
  /** Null if the response is not captured. */
  readonly headers: Map<string, string> | null;
  readonly #startedAt = performance.now();
  readonly #pool: OriginPool;
  readonly #timeoutMs: number;
  readonly #timer: NodeJS.Timeout;
  readonly #group: AttemptHandler[] | null;
  readonly #resolve: (outcome: AttemptOutcome) => void;
  readonly #keptBytes: number;
  readonly #drainedBytes: number;
  /** Null once it is written, so that a slow receiver does not keep it in memory. */
  #request: AttemptRequest | null;
  #connection: Connection | null = null;
  #slot = 0;
  #isSettled = false;
  #statusCode = 0;
  #sentAt = 0;
  #respondedAt = 0;
  /** Null on a reused connection, or without TLS. */
  #tlsMs: number | null = null;
  #isNewConnection = false;
  #retryAfter: string | null = null;
  #kept: Buffer = NOTHING;
  #keptLength = 0;
  #bytesRead = 0;

  constructor(
    pool: OriginPool,
    request: AttemptRequest,
    group: AttemptHandler[] | null,
    resolve: (outcome: AttemptOutcome) => void,
  ) {
    const wantedBytes = request.captureResponse?.maxBodyBytes;
    this.#request = request;
    this.#timeoutMs = request.timeoutMs;
    this.headers = wantedBytes === undefined ? null : new Map();
    this.#keptBytes = wantedBytes ?? KEPT_BODY_BYTES;
    this.#drainedBytes = wantedBytes ?? DRAINED_BODY_BYTES;
    this.#pool = pool;
    this.#group = group;
    if (group !== null) this.#slot = group.push(this) - 1;
    this.#resolve = resolve;
    // One timer per attempt: Node keeps timers of equal length in one list, so that set and clear take less than 1 µs
    // together.
    this.#timer = setTimeout(onDeadline, request.timeoutMs, this);
  }

  /** The request has a connection, which may have to be opened first. */
  onConnection(connection: Connection): void {
    this.#connection = connection;
  }

  /** Returns the request to write. Called once. */
  takeRequest(isNewConnection: boolean, tlsMs: number | null): AttemptRequest {
    const request = this.#request as AttemptRequest;
    this.#request = null;
    this.#sentAt = performance.now();
    this.#isNewConnection = isNewConnection;
    this.#tlsMs = tlsMs;
    return request;
  }

  onHead(statusCode: number, retryAfter: string | null): void {
    this.#statusCode = statusCode;
    this.#respondedAt = performance.now();
    this.#retryAfter = retryAfter;
  }

  onBody(bytes: Buffer, start: number, end: number): void {
    if (this.#isSettled) return;
    this.#bytesRead += end - start;
    if (this.#keptLength < this.#keptBytes) this.#keep(bytes, start, end);
    if (this.#bytesRead > this.#drainedBytes) this.#endWith(BODY_TOO_LONG);
  }

  /** Copies the bytes. The buffer doubles, because a megabyte may come in chunks of one byte. */
  #keep(bytes: Buffer, start: number, end: number): void {
    const length = Math.min(this.#keptLength + end - start, this.#keptBytes);
    if (length > this.#kept.length) {
      const larger = Buffer.allocUnsafe(Math.min(Math.max(length, 2 * this.#kept.length), this.#keptBytes));
      this.#kept.copy(larger, 0, 0, this.#keptLength);
      this.#kept = larger;
    }
    bytes.copy(this.#kept, this.#keptLength, start, start + length - this.#keptLength);
    this.#keptLength = length;
  }

  /** Usually the body came in one piece and fills its buffer. */
  get #keptBody(): Uint8Array {
    return this.#kept.length === this.#keptLength ? this.#kept : this.#kept.subarray(0, this.#keptLength);
  }

  /** The response is complete (null), or the connection failed (the problem). */
  onEnd(problem: ErrorClass | null): void {
    this.#settle(problem);
  }

  onDeadline(): void {
    this.#endWith({ error: "timeout", detail: `no response within ${this.#timeoutMs} ms` });
  }

  abort(): void {
    this.#endWith(ABORTED);
  }

  #endWith(reason: ErrorClass): void {
    if (this.#isSettled) return;
    this.#settle(reason);
    if (this.#connection === null) this.#pool.withdraw(this);
    else this.#connection.close();
  }

  /** The status line decides: after it, a body that breaks, drips or never ends changes nothing. */
  #settle(problem: ErrorClass | null): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    clearTimeout(this.#timer);
    this.#leaveGroup();
    this.#pool.release();
    const now = performance.now();
    const durationMs = Math.round(now - this.#startedAt);
    const phases = this.#phases(now);
    if (this.#statusCode === 0) {
      this.#resolve({ kind: "failed", ...(problem ?? NO_STATUS), durationMs, phases });
      return;
    }
    const outcome: AttemptOutcome = {
      kind: "responded",
      statusCode: this.#statusCode,
      responseBody: this.#keptBody,
      retryAfter: this.#retryAfter,
      durationMs,
      phases,
    };
    const { headers } = this;
    if (headers === null) this.#resolve(outcome);
    else {
      const response = { headers: Object.fromEntries(headers), isComplete: problem === null };
      this.#resolve({ ...outcome, response });
    }
  }

  #phases(now: number): AttemptPhases {
    if (this.#sentAt === 0) return this.#phasesOfConnecting(now);
    const waitedMs = this.#sentAt - this.#startedAt;
    const tlsMs = this.#tlsMs === null ? null : Math.round(Math.min(this.#tlsMs, waitedMs));
    const connectMs = Math.round(waitedMs - (tlsMs ?? 0));
    return {
      connectMs: this.#isNewConnection || connectMs > 0 ? connectMs : null,
      tlsMs,
      firstByteMs: this.#statusCode === 0 ? null : Math.round(this.#respondedAt - this.#sentAt),
    };
  }

  /** The request was not written: its connection shows how far it got. */
  #phasesOfConnecting(now: number): AttemptPhases {
    const tlsStartedAt = this.#connection?.tlsStartedAt ?? 0;
    return {
      connectMs: Math.round((tlsStartedAt === 0 ? now : tlsStartedAt) - this.#startedAt),
      tlsMs: tlsStartedAt === 0 ? null : Math.round(now - tlsStartedAt),
      firstByteMs: null,
    };
  }

  /** Moves the last handler of the group to this index. A Set, whose old tables keep references alive, took 6 µs. */
  #leaveGroup(): void {
    const last = this.#group?.pop();
    if (this.#group === null || last === undefined || last === this) return;
    this.#group[this.#slot] = last;
    last.#slot = this.#slot;
  }
}

const ABORTED: ErrorClass = { error: "unknown", detail: "aborted because this process is stopping" };
const BODY_TOO_LONG: ErrorClass = { error: "bad_response", detail: "response body too long" };
const NO_STATUS: ErrorClass = { error: "bad_response", detail: "no status line" };

// Runs one turn of the event loop later, because a response that is already in the socket's buffer was in time.
function onDeadline(handler: AttemptHandler): void {
  setImmediate(() => handler.onDeadline());
}

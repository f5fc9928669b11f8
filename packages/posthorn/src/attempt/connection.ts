// One connection of an origin pool: sends one request at a time and parses its response. Nothing is pipelined, and a
// request is written once: if the connection breaks, the receiver may have processed it.
import type { Socket } from "node:net";
import type { AttemptHandler, AttemptRequest } from "./attempt-handler.ts";
import { classifyError, type ErrorClass } from "./classify-error.ts";
import type { ConnectionListener, GuardedConnector } from "./guard/guarded-connector.ts";
import { ResponseParser } from "./response-parser.ts";

/** Owns a connection between requests. */
export interface ConnectionOwner {
  /** The connection can be used again, one turn of the event loop after its response. */
  onFree(connection: Connection): void;
  onClosed(connection: Connection): void;
}

// Node's servers close an idle connection after 5 s. A request that is sent while the server closes is lost, and a POST is not
// repeated outside the schedule. So this side closes first: after 4 s, or 1 s before the server's hint.
const IDLE_MS = 4_000;
const MAX_IDLE_MS = 30_000;
const BEFORE_HINT_MS = 1_000;
/** Shared by all connections: each read is processed before the next begins. */
const readBuffer = Buffer.allocUnsafeSlow(64 * 1024);
/** Larger requests are written without a copy. */
const MAX_COPIED_BYTES = 64 * 1024;
/** Shared by all. A socket that cannot send everything at once keeps the buffer, and a new one is allocated. */
let writeBuffer = Buffer.allocUnsafeSlow(MAX_COPIED_BYTES);

export class Connection implements ConnectionListener {
  readonly onread = {
    buffer: readBuffer,
    callback: (length: number): true => {
      this.#read(length);
      return true;
    },
  };
  readonly #owner: ConnectionOwner;
  readonly #connector: GuardedConnector;
  readonly #parser = new ResponseParser();
  #socket: Socket | null = null;
  /** The request in flight, or the one the connection is opened for. */
  #attempt: AttemptHandler | null;
  #isClosed = false;
  #tlsStartedAt = 0;
  #idleTimer: NodeJS.Timeout | null = null;
  #idleMs = 0;

  constructor(owner: ConnectionOwner, connector: GuardedConnector, attempt: AttemptHandler) {
    this.#owner = owner;
    this.#connector = connector;
    this.#attempt = attempt;
  }

  /** Opens the connection for its first request. It may fail and be closed before this returns. */
  open(): void {
    this.#attempt?.onConnection(this);
    this.#connector.connect(this);
  }

  get isWanted(): boolean {
    return !this.#isClosed;
  }

  /** The time at which TLS began, in monotonic milliseconds; 0 before that, and without TLS. */
  get tlsStartedAt(): number {
    return this.#tlsStartedAt;
  }

  /** False if the socket was closed since its last response. */
  get isUsable(): boolean {
    return this.#socket?.destroyed === false;
  }

  /** Sends a request on an idle connection. */
  send(attempt: AttemptHandler): void {
    this.#attempt = attempt;
    attempt.onConnection(this);
    this.#write(attempt, attempt.takeRequest(false, null));
  }

  /** Closes the connection. Its request, if any, has its outcome already. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#attempt = null;
    if (this.#idleTimer !== null) clearTimeout(this.#idleTimer);
    this.#socket?.destroy();
    this.#owner.onClosed(this);
  }

  onSocket(socket: Socket): void {
    this.#socket = socket;
  }

  onTlsStart(): void {
    this.#tlsStartedAt = performance.now();
  }

  onReady(): void {
    if (this.#attempt === null) return;
    const tlsMs = this.#tlsStartedAt === 0 ? null : performance.now() - this.#tlsStartedAt;
    this.#write(this.#attempt, this.#attempt.takeRequest(true, tlsMs));
  }

  onEnd(): void {
    this.#attempt?.onEnd(this.#parser.end());
    this.close();
  }

  onError(error: Error): void {
    this.#fail(classifyError(error));
  }

  #write(attempt: AttemptHandler, { head, body }: AttemptRequest): void {
    const socket = this.#socket as Socket;
    this.#parser.start(attempt);
    const length = head.length + body.byteLength;
    if (length > MAX_COPIED_BYTES) {
      socket.cork();
      socket.write(head, "latin1");
      socket.write(body);
      socket.uncork();
      return;
    }
    // TLS keeps the bytes until they are encrypted.
    const isShared = this.#tlsStartedAt === 0;
    const bytes = isShared ? writeBuffer.subarray(0, length) : Buffer.allocUnsafe(length);
    bytes.write(head, 0, "latin1");
    bytes.set(body, head.length);
    socket.write(bytes);
    if (isShared && socket.writableLength > 0) writeBuffer = Buffer.allocUnsafeSlow(MAX_COPIED_BYTES);
  }

  #read(length: number): void {
    const attempt = this.#attempt;
    if (attempt === null) {
      // Bytes on an idle connection could be mistaken for the next response.
      this.close();
      return;
    }
    const progress = this.#parser.read(readBuffer, length);
    // The attempt may have ended within the response, and closed the connection.
    if (progress === "more" || this.#isClosed) return;
    if (progress === "complete") this.#complete(attempt);
    else this.#fail(progress);
  }

  #complete(attempt: AttemptHandler): void {
    const { isReusable, keepAliveSeconds } = this.#parser;
    const hintMs = keepAliveSeconds === null ? IDLE_MS : keepAliveSeconds * 1_000 - BEFORE_HINT_MS;
    this.#attempt = null;
    // A response that came before the end of its request leaves the rest of the request to be sent.
    if (!isReusable || hintMs <= 0 || this.#socket?.writableLength !== 0) {
      this.close();
    } else {
      this.#closeWhenIdle(Math.min(hintMs, MAX_IDLE_MS));
      if (completed.push(this) === 1) setImmediate(freeCompleted);
    }
    attempt.onEnd(null);
  }

  /** Refreshing a timer takes a tenth of the time of a new one; it is not stopped while a request is in flight. */
  #closeWhenIdle(idleMs: number): void {
    if (this.#idleTimer !== null && this.#idleMs === idleMs) {
      this.#idleTimer.refresh();
      return;
    }
    if (this.#idleTimer !== null) clearTimeout(this.#idleTimer);
    this.#idleMs = idleMs;
    this.#idleTimer = setTimeout(closeIfIdle, idleMs, this);
  }

  closeIfIdle(): void {
    if (this.#attempt === null) this.close();
  }

  free(): void {
    if (!this.#isClosed) this.#owner.onFree(this);
  }

  #fail(problem: ErrorClass): void {
    this.#attempt?.onEnd(problem);
    this.close();
  }
}

function closeIfIdle(connection: Connection): void {
  connection.closeIfIdle();
}

/**
 * Connections whose response was completed in this turn of the event loop. Some receivers close a connection after a
 * response without announcing it, and a request sent at once would be lost: half of 400 requests were, and none after
 * one turn.
 */
let completed: Connection[] = [];

function freeCompleted(): void {
  const connections = completed;
  completed = [];
  for (const connection of connections) connection.free();
}

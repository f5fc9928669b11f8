// A connection that has sent only plain requests so far.
//
//   idle ──plain request──► busy ──response──► idle
//     └──anything else──► node:http ◄──response──┘ if more bytes have arrived
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type PlainHead, PUBLISH_PATH, readPlainHead } from "./plain-head.ts";
import { PlainResponse } from "./plain-response.ts";

export interface PlainConnectionOptions {
  readonly handle: RequestListener;
  /** How long the first request may take to arrive. */
  readonly headersTimeoutMs: number;
  readonly keepAliveMs: number;
  /** Called when the connection was closed, and before it is handed over. */
  readonly onEnd: () => void;
  /** Passes the connection to node:http, which reads it from the first unread byte on. */
  readonly handOver: () => void;
}

/** node:http reads a request whose body takes longer, so that its timeouts and checks before the body apply. */
const BODY_WAIT_MS = 1_000;
// the responses of node:http
const BAD_REQUEST = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n";
const REQUEST_TIMEOUT = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n";

export class PlainConnection {
  readonly socket: Socket;
  readonly #options: PlainConnectionOptions;
  readonly #listeners: Readonly<Record<string, (chunk: Buffer) => void>>;
  /** The pending response. */
  #response: PlainResponse | null = null;
  /** The head of an incomplete request. */
  #head: PlainHead | null = null;
  #bodyTimer: NodeJS.Timeout | undefined;
  /** Bytes of an incomplete request, or bytes that arrived before the response. */
  readonly #unread: Buffer[] = [];
  #unreadBytes = 0;
  #hasServed = false;

  constructor(socket: Socket, options: PlainConnectionOptions) {
    this.socket = socket;
    this.#options = options;
    this.#listeners = {
      data: (chunk) => this.#receive(chunk),
      end: () => this.#end(),
      timeout: () => this.#timeOut(),
      error: () => socket.destroy(),
      close: () => this.#close(),
    };
    for (const [event, listener] of Object.entries(this.#listeners)) socket.on(event, listener);
    socket.setTimeout(options.headersTimeoutMs);
  }

  /** False before the first request, as in node:http: it may be on its way. */
  get isIdle(): boolean {
    return this.#hasServed && this.#isFree;
  }

  get #isFree(): boolean {
    return this.#response === null && this.#head === null;
  }

  #receive(chunk: Buffer): void {
    this.#unread.push(chunk);
    this.#unreadBytes += chunk.length;
    if (this.#response !== null) {
      this.socket.pause();
      return;
    }
    const head = this.#head ?? readPlainHead(chunk);
    if (head === null || this.#unreadBytes > head.end) this.#handOver();
    else if (this.#unreadBytes === head.end) this.#serve(head, this.#takeUnread());
    else if (this.#head === null) this.#awaitBody(head);
  }

  #awaitBody(head: PlainHead): void {
    this.#head = head;
    const waitMs = Math.min(BODY_WAIT_MS, this.#options.headersTimeoutMs);
    this.#bodyTimer = setTimeout(() => this.#handOver(), waitMs);
  }

  #serve(head: PlainHead, bytes: Buffer): void {
    if (this.#head !== null) clearTimeout(this.#bodyTimer);
    this.#head = null;
    const { socket } = this;
    // the part of a request that publishing uses; its body is complete, as behind a body parser
    const request = {
      method: "POST",
      url: PUBLISH_PATH,
      headers: head.headers,
      socket,
      readableEnded: true,
      rawBody: bytes.subarray(head.bodyStart),
    } as unknown as IncomingMessage;
    const response = new PlainResponse(request, this.#options.keepAliveMs);
    this.#response = response;
    response.on("close", () => this.#responded(response));
    this.#options.handle(request, response as unknown as ServerResponse);
  }

  #responded({ shouldKeepAlive }: PlainResponse): void {
    const { socket } = this;
    this.#response = null;
    if (!this.#hasServed) socket.setTimeout(this.#options.keepAliveMs);
    this.#hasServed = true;
    if (!shouldKeepAlive) socket.destroySoon();
    else if (this.#unread.length > 0 && !socket.destroyed) this.#handOver();
  }

  #end(): void {
    clearTimeout(this.#bodyTimer);
    this.socket.end(this.#head === null ? "" : BAD_REQUEST);
  }

  #timeOut(): void {
    if (!this.#isFree) return;
    if (!this.#hasServed) this.socket.write(REQUEST_TIMEOUT);
    this.socket.destroySoon();
  }

  #close(): void {
    clearTimeout(this.#bodyTimer);
    this.#options.onEnd();
    this.#response?.emit("close");
  }

  #handOver(): void {
    const { socket } = this;
    clearTimeout(this.#bodyTimer);
    for (const [event, listener] of Object.entries(this.#listeners)) socket.off(event, listener);
    socket.setTimeout(0);
    socket.pause();
    socket.unshift(this.#takeUnread());
    this.#options.onEnd();
    this.#options.handOver();
    process.nextTick(() => socket.resume());
  }

  #takeUnread(): Buffer {
    const [first] = this.#unread;
    const bytes = this.#unread.length === 1 && first ? first : Buffer.concat(this.#unread);
    this.#unread.length = 0;
    this.#unreadBytes = 0;
    return bytes;
  }
}

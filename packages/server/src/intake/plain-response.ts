// The response to a plain request: the part of ServerResponse that `sendReply` uses, written to the socket at once.
import { EventEmitter } from "node:events";
import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";

export class PlainResponse extends EventEmitter {
  readonly req: IncomingMessage;
  readonly socket: Socket;
  shouldKeepAlive = true;
  readonly #keepAliveMs: number;
  #head = "";
  #hasEnded = false;

  /** Emits `close` when the response was passed to the kernel, or the connection is lost. */
  constructor(request: IncomingMessage, keepAliveMs: number) {
    super();
    this.req = request;
    this.socket = request.socket;
    this.#keepAliveMs = keepAliveMs;
  }

  get destroyed(): boolean {
    return !this.socket.writable;
  }

  get writableFinished(): boolean {
    return this.#hasEnded && this.socket.writableLength === 0;
  }

  /** `headers` has name, value, name, value, … */
  writeHead(status: number, headers: readonly string[]): void {
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
    for (let at = 0; at < headers.length; at += 2) head += `${headers[at]}: ${headers[at + 1]}\r\n`;
    const connection = this.shouldKeepAlive
      ? `keep-alive\r\nKeep-Alive: timeout=${Math.floor(this.#keepAliveMs / 1_000)}`
      : "close";
    this.#head = `${head}Date: ${httpDate()}\r\nConnection: ${connection}\r\n\r\n`;
  }

  write(part: string | Buffer): boolean {
    const isWritten = this.#write(part);
    if (!isWritten) this.socket.once("drain", () => this.emit("drain"));
    return isWritten;
  }

  end(body: string | Buffer = ""): void {
    this.#write(body);
    this.#hasEnded = true;
    if (this.socket.writableLength === 0) this.emit("close");
    // called when the bytes before it are written
    else this.socket.write("", () => this.emit("close"));
  }

  destroy(): void {
    this.socket.destroy();
  }

  /** A text is sent with the head in one write. */
  #write(body: string | Buffer): boolean {
    const { socket } = this;
    const head = this.#head;
    this.#head = "";
    if (typeof body === "string") return socket.write(head + body);
    if (head !== "") socket.write(head);
    return socket.write(body);
  }
}

let dateMs = 0;
let dateText = "";

function httpDate(): string {
  const nowMs = Date.now();
  if (nowMs - dateMs < 1_000 && nowMs >= dateMs) return dateText;
  dateMs = nowMs - (nowMs % 1_000);
  dateText = new Date(nowMs).toUTCString();
  return dateText;
}

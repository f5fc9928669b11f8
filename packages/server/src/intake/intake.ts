// Serves plain publish requests without node:http, whose parser and streams cost a fifth of such a request. Every
// connection starts here. One that sends anything else is handed to node:http and stays there.
import { channel } from "node:diagnostics_channel";
import { EventEmitter } from "node:events";
import type { RequestListener, Server } from "node:http";
import type { Socket } from "node:net";
import { PlainConnection } from "./plain-connection.ts";

export class Intake {
  readonly #server: Server;
  readonly #handle: RequestListener;
  readonly #nodeListener: (this: Server, socket: Socket) => void;
  readonly #open = new Set<PlainConnection>();

  /** Takes over the connections of a server that is not listening yet. `handle` is its request listener. */
  constructor(server: Server, handle: RequestListener) {
    this.#server = server;
    this.#handle = handle;
    const [listener] = server.listeners("connection");
    this.#nodeListener = listener as (socket: Socket) => void;
    server.removeAllListeners("connection").on("connection", (socket: Socket) => this.#accept(socket));
  }

  closeIdleConnections(): void {
    for (const connection of this.#open) if (connection.isIdle) connection.socket.destroy();
  }

  closeAllConnections(): void {
    for (const { socket } of this.#open) socket.destroy();
  }

  #accept(socket: Socket): void {
    const server = this.#server;
    const handOver = () => this.#nodeListener.call(server, socket);
    if (isInstrumented(server, this.#handle)) {
      handOver();
      return;
    }
    const connection: PlainConnection = new PlainConnection(socket, {
      handle: this.#handle,
      headersTimeoutMs: server.headersTimeout,
      keepAliveMs: server.keepAliveTimeout,
      onEnd: () => this.#open.delete(connection),
      handOver,
    });
    this.#open.add(connection);
  }
}

/**
 * Tracing tools patch `emit` of the server, wrap its request listener, add one, or subscribe to these channels, and
 * would not see plain requests.
 */
function isInstrumented(server: Server, handle: RequestListener): boolean {
  const listeners = server.listeners("request");
  if (listeners.length !== 1 || listeners[0] !== handle) return true;
  return server.emit !== EventEmitter.prototype.emit || channels.some(({ hasSubscribers }) => hasSubscribers);
}

const channelNames = ["request.start", "response.created", "response.finish"];
const channels = channelNames.map((name) => channel(`http.server.${name}`));

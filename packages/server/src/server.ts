// The HTTP server around the handler. It limits slow clients. When it stops, it first reports not ready, keeps responding
// while the engine drains, and closes last.
import { createServer as createHttpServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Posthorn } from "posthorn";
import { createHandler, type HandlerOptions } from "./api/handler.ts";
import { Intake } from "./intake/intake.ts";
import { listen } from "./listen.ts";
import { OpenRequests } from "./open-requests.ts";
import { refuseUnreadable } from "./unreadable-requests.ts";

export interface ServerOptions extends Omit<HandlerOptions, "isDraining"> {
  readonly hooks: Posthorn;
  /** Default 127.0.0.1. */
  readonly host?: string | undefined;
  /** Default 8400; 0 uses any free port. */
  readonly port?: number | undefined;
  /** How long a client may take to send its headers. Default 10 s. */
  readonly headersTimeoutMs?: number | undefined;
  /** How long a client may take to send its whole request. Default 30 s. */
  readonly requestTimeoutMs?: number | undefined;
}

export interface Service {
  start(): Promise<{ readonly url: string }>;
  /**
   * Reports not ready and refuses events from now on, but still responds. Resolves when open requests have ended, at the
   * latest after the grace period. May be called twice.
   */
  drain(options?: { readonly graceMs?: number }): Promise<void>;
  /** Drains if necessary, and closes the listener. Open requests may end within the grace period. */
  stop(options?: { readonly graceMs?: number }): Promise<void>;
}

const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
// Longer than the 60 s of common load balancers, so that they close idle connections and not the server.
const KEEP_ALIVE_MS = 65_000;
const DEFAULT_GRACE_MS = 25_000;
/** Leaves most of the grace period to the engine, even if a client sends its body slowly. */
const DRAIN_MS = 5_000;

export function createServer({
  hooks,
  host = "127.0.0.1",
  port = 8400,
  headersTimeoutMs = HEADERS_TIMEOUT_MS,
  requestTimeoutMs = REQUEST_TIMEOUT_MS,
  ...options
}: ServerOptions): Service {
  let isDraining = false;
  let stopping: Promise<void> | undefined;
  const handler = createHandler(hooks, { ...options, isDraining: () => isDraining });
  const openRequests = new OpenRequests();
  const handle: RequestListener = (request, response) => {
    openRequests.add({ request, response });
    handler(request, response);
  };
  const server = createHttpServer(
    {
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      // Node checks at this interval; its default of 30 s would make the timeouts inexact.
      connectionsCheckingInterval: headersTimeoutMs / 5,
      keepAliveTimeout: KEEP_ALIVE_MS,
      noDelay: true,
    },
    handle,
  );
  server.on("clientError", (error, socket) =>
    refuseUnreadable(error, socket, openRequests.isResponding(socket)),
  );
  server.on("checkExpectation", handle);
  const intake = new Intake(server, handle);
  const drain = (): void => {
    isDraining = true;
    options.sink?.sink.close();
  };
  return {
    async start() {
      await listen(server, host, port);
      return { url: urlOf(server) };
    },
    drain({ graceMs = DEFAULT_GRACE_MS } = {}) {
      drain();
      return openRequests.ended(Math.min(graceMs / 2, DRAIN_MS));
    },
    stop({ graceMs = DEFAULT_GRACE_MS } = {}) {
      drain();
      stopping ??= close(server, intake, graceMs);
      return stopping;
    },
  };
}

async function close(server: Server, intake: Intake, graceMs: number): Promise<void> {
  if (!server.listening) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => {
      server.closeAllConnections();
      intake.closeAllConnections();
    }, graceMs);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
    intake.closeIdleConnections();
  });
}

/** The URL of the server on this machine. */
function urlOf(server: Server): string {
  const { address, port, family } = server.address() as AddressInfo;
  if (address === "0.0.0.0") return `http://127.0.0.1:${port}`;
  if (address === "::") return `http://[::1]:${port}`;
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}

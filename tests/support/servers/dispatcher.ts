// A dispatcher, and servers that respond as no HTTP library would; all are closed when the test ends.
import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { startScriptedReceiver } from "posthorn/testing";
import { onTestFinished } from "vitest";
import { Dispatcher, type DispatcherOptions } from "../../../packages/posthorn/src/attempt/dispatcher.ts";
import { parseAddressPolicy } from "../../../packages/posthorn/src/attempt/guard/guard-address.ts";
import type { AttemptOutcome, PreparedRequest } from "../../../packages/posthorn/src/model.ts";

export const LOOPBACK = parseAddressPolicy({ allowHttp: true, allowedCidrs: ["127.0.0.0/8"] });

export function openDispatcher(options: Partial<DispatcherOptions> = {}): Dispatcher {
  const dispatcher = new Dispatcher({ policy: LOOPBACK, ...options });
  onTestFinished(() => dispatcher.close());
  return dispatcher;
}

/** A request with a deadline that even a busy machine meets. */
export function requestTo(url: string, overrides: Partial<PreparedRequest> = {}): PreparedRequest {
  return {
    tenant: "acme",
    url,
    headers: { "content-type": "application/json" },
    body: Buffer.from('{"a":1}'),
    timeoutMs: 60_000,
    ...overrides,
  };
}

/** Sends one request through a dispatcher of its own. */
export async function send(
  url: string,
  overrides: Partial<PreparedRequest> = {},
  options: Partial<DispatcherOptions> = {},
): Promise<AttemptOutcome> {
  return await openDispatcher(options).send(requestTo(url, overrides));
}

/** Returns the port. */
export async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket));
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

/** Starts a server that reacts to each request on the raw connection, and returns its URL. */
export async function rawServer(
  onRequest: (socket: Socket, nth: number, data: Buffer) => void,
): Promise<string> {
  let requests = 0;
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (data) => onRequest(socket, ++requests, data));
  });
  return `http://127.0.0.1:${await listen(server)}/`;
}

/** Starts a server that responds to each request with this text, and returns its URL. */
export function answering(text: string): Promise<string> {
  return rawServer((socket) => socket.write(text));
}

/** Returns a URL at which nothing listens. */
export async function closedUrl(): Promise<string> {
  const receiver = await startScriptedReceiver();
  const { url } = receiver;
  await receiver.close();
  return url;
}

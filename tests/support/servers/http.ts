// HTTP on loopback: a listener, and a client that sends what `fetch` would not: any header, pieces, half a request.
import { once } from "node:events";
import {
  type ClientRequest,
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as open,
  type RequestListener,
  Server,
} from "node:http";
import { type AddressInfo, connect } from "node:net";
import { onTestFinished } from "vitest";

export interface Listening {
  readonly url: string;
  close(): Promise<void>;
}

/** Listens on a free port of loopback. The URL has no slash at its end. */
export async function serve(given: Server | RequestListener): Promise<Listening> {
  const server = given instanceof Server ? given : createServer(given);
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Listens until the test ends and returns the URL. */
export async function listen(given: Server | RequestListener): Promise<string> {
  const { url, close } = await serve(given);
  onTestFinished(close);
  return url;
}

/** Serves an application and returns a function that sends requests to its route for webhooks. */
export async function serving(
  app: Server | RequestListener,
): Promise<(request: Request) => Promise<Response>> {
  const url = await listen(app);
  return (request) => fetch(new Request(`${url}/webhooks`, request));
}

interface Sent {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: Uint8Array | string;
}

export interface Received {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** Sends a request on a connection of its own. */
export function send(url: string, { body, ...head }: Sent = {}): Promise<Received> {
  const sending = start(url, head);
  sending.request.end(body);
  return sending.answer;
}

export function get(url: string, headers: OutgoingHttpHeaders = {}): Promise<Received> {
  return send(url, { method: "GET", headers });
}

/** For bodies in pieces: write to `request` and end it. Without a content-length that is a chunked transfer. */
export function start(url: string, { method = "POST", headers = {} }: Omit<Sent, "body"> = {}) {
  const [, hostname, port, path] = /^http:\/\/([^:/]+):(\d+)(.*)$/.exec(url) ?? [];
  // not parsed as a URL, which would change the path
  const request = open({ hostname, port, path: path || "/", method, headers, agent: false });
  request.on("error", () => {}); // `answer` rejects, unless it has come already
  return { request, answer: responseTo(request) };
}

async function responseTo(request: ClientRequest): Promise<Received> {
  const [response] = (await once(request, "response")) as [IncomingMessage];
  const pieces: Buffer[] = [];
  for await (const piece of response) pieces.push(piece);
  const { statusCode = 0, headers } = response;
  return { status: statusCode, headers, body: Buffer.concat(pieces).toString() };
}

/**
 * Sends all bytes, whatever the server responds meanwhile, until it closes the connection. Returns the response as text.
 * `readsLate`: reads no response before the last byte was sent.
 */
export async function pour(url: string, bytes: number, { readsLate = false } = {}): Promise<string> {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect(Number(port), hostname).on("error", () => {});
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  let text = "";
  const answered = new Promise<void>((resolve) => {
    socket.on("data", (piece: Buffer) => {
      text += piece.toString("latin1");
      if (text.includes("\r\n\r\n")) resolve();
    });
  });
  if (readsLate) socket.pause();
  const head = `POST ${pathname} HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: text/plain`;
  socket.write(`${head}\r\ncontent-length: ${bytes}\r\n\r\n`);
  const block = Buffer.alloc(256 * 1024, "x");
  for (let left = bytes; left > 0 && socket.writable; left -= block.length) {
    const hasCapacity = socket.write(block.subarray(0, Math.min(left, block.length)));
    if (!hasCapacity) await Promise.race([new Promise((resolve) => socket.once("drain", resolve)), closed]);
  }
  socket.resume();
  await Promise.race([answered, closed]);
  socket.destroy();
  return text;
}

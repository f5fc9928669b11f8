// Shared by the adapters on Node's http. Framework objects are described by the members used; nothing is imported.
import type { RequestHandler, WebhookResponse } from "../model.ts";
import { consumedBody, type NotRaw } from "./consumed-body.ts";
import { bodyOf, type NodeStream } from "./node-body.ts";

/** The used part of `http.IncomingMessage` and `http2.Http2ServerRequest`. */
export interface NodeRequest extends NodeStream {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly socket: object;
  readonly readableDidRead: boolean;
  readonly readableEncoding: string | null;
}

/** The used part of `http.ServerResponse`. */
export interface NodeResponse {
  readonly headersSent: boolean;
  writeHead(status: number, headers: Record<string, string | number>): unknown;
  end(body: string): unknown;
}

/** Facts that the framework knows better than the request itself. */
export interface Translation {
  /** The URL as the sender addressed it; see `urlOf`. */
  readonly url: string;
  /** Where this framework's parsers store the body: bytes are used, anything else is rejected. */
  readonly parsedBodies: readonly unknown[];
  readonly notRaw: NotRaw;
}

export async function receiveFrom(
  receiver: RequestHandler,
  request: NodeRequest,
  { url, parsedBodies, notRaw }: Translation,
): Promise<WebhookResponse> {
  const { method = "GET" } = request;
  const headers = headersOf(request);
  const body = parsedBodies.find((made) => made instanceof Uint8Array) ?? unreadBody(request, notRaw);
  try {
    return await receiver.receive({ method, url, headers, body });
  } finally {
    // Unread data is discarded as it arrives, as long as the server's requestTimeout allows. Left unread, it would block a
    // sender that reads the response only after its last byte; closing the connection at once would reset it and lose
    // the response.
    request.resume();
  }
}

/** The adapter of a framework whose handlers get a request and a response of Node. */
export function nodeAdapter<Request extends NodeRequest>(translate: (request: Request) => Translation) {
  return (receiver: RequestHandler) =>
    async (request: Request, response: NodeResponse): Promise<void> =>
      writeResponse(response, await receiveFrom(receiver, request, translate(request)));
}

/** Node lower-cases the names, so a lookup needs no search. */
function headersOf({ headers }: NodeRequest): { get(name: string): string | null; keys(): string[] } {
  return {
    get(name) {
      const value = headers[name.toLowerCase()];
      return (typeof value === "object" ? value.join(", ") : value) ?? null;
    },
    keys: () => Object.keys(headers),
  };
}

function writeResponse(response: NodeResponse, { status, headers, body }: WebhookResponse): void {
  // A timeout middleware may have responded already.
  if (response.headersSent) return;
  // Without a length, Node would send the body in chunks, which takes three writes. RFC 9110 §8.6 forbids it for a 204.
  const sent: Record<string, string | number> = Object.assign({}, headers);
  if (body !== "") sent["content-length"] = byteLength(body);
  response.writeHead(status, sent);
  response.end(body);
}

/** Most responses are ASCII. */
function byteLength(text: string): number {
  return /^\p{ASCII}*$/u.test(text) ? text.length : new TextEncoder().encode(text).length;
}

/**
 * Ignores forwarded headers, because anyone can send them. A source whose sender signs the URL has an option `url`, which
 * takes precedence.
 */
export function urlOf(request: NodeRequest, path: string = request.url ?? "/", protocol?: string): string {
  if (!path.startsWith("/")) return path;
  const scheme = protocol ?? ("encrypted" in request.socket && request.socket.encrypted ? "https" : "http");
  return `${scheme}://${request.headers.host ?? request.headers[":authority"] ?? "localhost"}${path}`;
}

/** Checks the stream, not `request.body`: Express 4 sets that to `{}` for bodies that its parsers did not read. */
function unreadBody(request: NodeRequest, notRaw: NotRaw): AsyncIterable<Uint8Array> {
  if (request.readableDidRead || request.readableEncoding !== null) return consumedBody(notRaw);
  return bodyOf(request);
}

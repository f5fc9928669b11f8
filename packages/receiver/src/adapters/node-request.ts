// What the adapters on Node's http share. Foreign objects are described by what is used of them; nothing is imported.
import type { RequestHandler, WebhookResponse } from "../model.ts";
import { consumedBody, type NotRaw } from "./consumed-body.ts";

/** Of `http.IncomingMessage`, and of `http2.Http2ServerRequest`. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly socket: object;
  readonly readableDidRead: boolean;
  readonly readableEncoding: string | null;
  iterator(options: { destroyOnReturn: boolean }): AsyncIterable<Uint8Array>;
  resume(): unknown;
}

/** Of `http.ServerResponse`. */
export interface NodeResponse {
  readonly headersSent: boolean;
  writeHead(status: number, headers: Record<string, string>): unknown;
  end(body: string): unknown;
}

/** What a framework knows better than the request itself. */
export interface Translation {
  /** As the sender addressed it; see `urlOf`. */
  readonly url: string;
  /** Where parsers of this framework leave what they made of the body: bytes are taken, all else is refused. */
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
    // What was not read is thrown away as it comes, for as long as the server's requestTimeout allows: left where it
    // is, it would block a sender that reads the answer only after its last byte, and closing the connection at once
    // would reset it and lose the answer on the way.
    request.resume();
  }
}

/** Node has put the names into lower case, so each is found without a look at the others. */
function headersOf({ headers }: NodeRequest): { get(name: string): string | null; keys(): string[] } {
  return {
    get(name) {
      const value = headers[name.toLowerCase()];
      return (typeof value === "object" ? value.join(", ") : value) ?? null;
    },
    keys: () => Object.keys(headers),
  };
}

export function writeResponse(response: NodeResponse, { status, headers, body }: WebhookResponse): void {
  // something that watches the time may have answered in our place
  if (response.headersSent) return;
  response.writeHead(status, { ...headers });
  response.end(body);
}

/**
 * Forwarded headers are not believed here, since anybody can send them. A source whose sender signs the URL has an
 * option `url`, which wins over this.
 */
export function urlOf(request: NodeRequest, path: string = request.url ?? "/", protocol?: string): string {
  if (!path.startsWith("/")) return path;
  const scheme = protocol ?? ("encrypted" in request.socket && request.socket.encrypted ? "https" : "http");
  return `${scheme}://${request.headers.host ?? request.headers[":authority"] ?? "localhost"}${path}`;
}

/** The stream is the judge, not `request.body`: Express 4 puts `{}` there for bodies that its parsers left alone. */
function unreadBody(request: NodeRequest, notRaw: NotRaw): AsyncIterable<Uint8Array> {
  if (request.readableDidRead || request.readableEncoding !== null) return consumedBody(notRaw);
  return {
    // made when it is asked for: it listens to the stream from then on
    [Symbol.asyncIterator]: () => request.iterator({ destroyOnReturn: false })[Symbol.asyncIterator](),
  };
}

// The response of a route, and how it is sent: with a content length unless it is a stream, and not cached by default.
import type { ServerResponse } from "node:http";

export interface Reply {
  readonly status: number;
  /** Default: application/json. */
  readonly contentType?: string;
  readonly body?: string | Buffer;
  /** Default: no-store. */
  readonly cacheControl?: string;
  /** Name, value, name, value, … */
  readonly headers?: readonly string[];
  /** Writes and ends the response itself; used instead of a body. */
  readonly stream?: (response: ServerResponse, timeoutMs: number) => void;
  /** Closes the connection after the response, because the rest of the request is not read. */
  readonly closesConnection?: boolean;
}

export function json(status: number, body: unknown): Reply {
  return { status, body: JSON.stringify(body) };
}

export const noContent: Reply = { status: 204 };

/** Larger bodies are sent in parts, to notice when the client stops reading. */
const PART_BYTES = 64 * 1024;

export function sendReply(
  response: ServerResponse,
  reply: Reply,
  requestId: string,
  timeoutMs: number,
): void {
  const { status } = reply;
  const isLarge = reply.body !== undefined && reply.body.length > PART_BYTES;
  const body = isLarge && typeof reply.body === "string" ? Buffer.from(reply.body) : reply.body;
  // A flat array avoids the header map of setHeader.
  const headers = [
    "X-Request-Id",
    requestId,
    "Cache-Control",
    reply.cacheControl ?? "no-store",
    "X-Content-Type-Options",
    "nosniff",
  ];
  if (body !== undefined) {
    headers.push("Content-Type", reply.contentType ?? "application/json");
    headers.push("Content-Length", String(typeof body === "string" ? Buffer.byteLength(body) : body.length));
  } else if (reply.stream) {
    headers.push("Content-Type", reply.contentType ?? "application/octet-stream");
  } else if (status !== 204 && status !== 304) {
    headers.push("Content-Length", "0");
  }
  if (reply.closesConnection) headers.push("Connection", "close");
  if (reply.headers) headers.push(...reply.headers);
  response.writeHead(status, headers as unknown as import("node:http").OutgoingHttpHeader[]);
  if (reply.stream) {
    if (response.req.method === "HEAD") response.end();
    else reply.stream(response, timeoutMs);
    return;
  }
  if (isLarge) writeParts(response, body as Buffer);
  else if (reply.closesConnection) endAfterRequestBody(response, body ?? "");
  else response.end(body);
  // usually the kernel has buffered everything by now
  if (!response.writableFinished) destroyIfUnread(response, timeoutMs);
}

function writeParts(response: ServerResponse, body: Buffer): void {
  let at = 0;
  const write = (): void => {
    while (at < body.length && !response.destroyed) {
      const part = body.subarray(at, at + PART_BYTES);
      at += PART_BYTES;
      if (at >= body.length) response.end(part);
      else if (!response.write(part)) return;
    }
  };
  response.on("drain", write);
  write();
}

/** Closing while the client still sends would reset the connection and could lose the response. */
const REQUEST_BODY_GRACE_MS = 1_000;

/** Sends the response at once, then discards the rest of the request until it ends or the grace period is over. */
function endAfterRequestBody(response: ServerResponse, body: string | Buffer): void {
  response.write(body);
  const timer = setTimeout(() => response.end(), REQUEST_BODY_GRACE_MS);
  response.once("close", () => clearTimeout(timer));
  response.req.once("end", () => response.end()).resume();
}

/** Destroys the response if the client stops reading. For a pipelined response the time starts when its turn comes. */
function destroyIfUnread(response: ServerResponse, timeoutMs: number): void {
  if (response.socket === null) {
    response.once("socket", () => destroyIfUnread(response, timeoutMs));
    return;
  }
  const timer = setTimeout(() => response.destroy(), timeoutMs).unref();
  response.on("drain", () => timer.refresh()).once("close", () => clearTimeout(timer));
}

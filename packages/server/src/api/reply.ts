// What a route answers, and how it goes out. With a length unless it is a stream, and never cached unless it says so.
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
  /** In place of a body: writes as long as it likes, and ends the answer itself. */
  readonly stream?: (response: ServerResponse) => void;
  /** The connection ends with it: nobody wants the rest of the request. */
  readonly closesConnection?: boolean;
}

export function json(status: number, body: unknown): Reply {
  return { status, body: JSON.stringify(body) };
}

export const noContent: Reply = { status: 204 };

/** Larger ones go out in parts, so that it is seen whether the client reads. */
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
  // A flat array is written as it is, without the table of names that setHeader keeps.
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
    else reply.stream(response);
    return;
  }
  if (isLarge) writeParts(response, body as Buffer);
  else if (reply.closesConnection) endAfterRequestBody(response, body ?? "");
  else response.end(body);
  // nearly always the system has taken it all by now
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

/** Closing while the client still sends would reset the connection, and the answer could be lost with it. */
const REQUEST_BODY_GRACE_MS = 1_000;

/** The client has the whole answer at once; what it still sends is thrown away for a while, then it is cut off. */
function endAfterRequestBody(response: ServerResponse, body: string | Buffer): void {
  response.write(body);
  const timer = setTimeout(() => response.end(), REQUEST_BODY_GRACE_MS);
  response.once("close", () => clearTimeout(timer));
  response.req.once("end", () => response.end()).resume();
}

/** An answer that waits behind another one on its connection has its time when its turn comes. */
function destroyIfUnread(response: ServerResponse, timeoutMs: number): void {
  if (response.socket === null) {
    response.once("socket", () => destroyIfUnread(response, timeoutMs));
    return;
  }
  const timer = setTimeout(() => response.destroy(), timeoutMs).unref();
  response.on("drain", () => timer.refresh()).once("close", () => clearTimeout(timer));
}

// What a route answers, and how it goes out. Always with a length, never cached.
import type { ServerResponse } from "node:http";

export interface Reply {
  readonly status: number;
  /** Default: application/json. */
  readonly contentType?: string;
  readonly body?: string | Buffer;
  /** Name, value, name, value, … */
  readonly headers?: readonly string[];
}

export function json(status: number, body: unknown): Reply {
  return { status, body: JSON.stringify(body) };
}

export const noContent: Reply = { status: 204 };

export function sendReply(response: ServerResponse, reply: Reply, requestId: string): void {
  const { status, body } = reply;
  // A flat array is written as it is, without the table of names that setHeader keeps.
  const headers = [
    "X-Request-Id",
    requestId,
    "Cache-Control",
    "no-store",
    "X-Content-Type-Options",
    "nosniff",
  ];
  if (body !== undefined) {
    headers.push("Content-Type", reply.contentType ?? "application/json");
    headers.push("Content-Length", String(typeof body === "string" ? Buffer.byteLength(body) : body.length));
  } else if (status !== 204 && status !== 304) {
    headers.push("Content-Length", "0");
  }
  if (reply.headers) headers.push(...reply.headers);
  response.writeHead(status, headers as unknown as import("node:http").OutgoingHttpHeader[]);
  response.end(body);
}

// Responds to what Node's HTTP parser refuses, with the same problem documents as every other error.
import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { HttpError, type HttpErrorCode } from "./api/http-error.ts";
import { newRequestId } from "./api/middleware/request-id.ts";
import { problemOf, problemReply } from "./api/problem.ts";

const BY_CODE: Readonly<Record<string, readonly [HttpErrorCode, string]>> = {
  HPE_HEADER_OVERFLOW: ["headers_too_large", "The URL and the headers may have 16 KB together."],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ["body_too_large", "The extensions of the body's chunks may have 16 KB."],
  ERR_HTTP_REQUEST_TIMEOUT: ["request_timeout", "Send the whole request at once, without long pauses."],
};

/** `isResponding`: part of a response was written already, which another one would damage. */
export function refuseUnreadable(
  error: Error & { code?: string },
  socket: Duplex,
  isResponding: boolean,
): void {
  if (!socket.writable || isResponding || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const [code, detail] = BY_CODE[error.code ?? ""] ?? ["malformed_request", "Send a valid HTTP/1.1 request."];
  const requestId = newRequestId();
  const {
    status,
    contentType,
    body = "",
  } = problemReply(problemOf(new HttpError(code, detail)), "/", requestId);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `Content-Type: ${contentType}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    "Cache-Control: no-store",
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}

// Reads the head of a plain publish request. Its grammar is narrower than HTTP: null does not mean that a request is
// wrong, but that node:http has to read it.
import type { IncomingHttpHeaders } from "node:http";

export interface PlainHead {
  readonly headers: IncomingHttpHeaders;
  readonly bodyStart: number;
  /** Position after the body. */
  readonly end: number;
}

export const PUBLISH_PATH = "/api/v1/events";
export const MAX_PLAIN_HEAD_BYTES = 4 * 1024;
/** For larger requests the head is a small part of the cost, and buffers of this size cause more garbage collection. */
export const MAX_PLAIN_BODY_BYTES = 16 * 1024;

const START = `POST ${PUBLISH_PATH} HTTP/1.1\r\n`;
const END_OF_HEAD = Buffer.from("\r\n\r\n");
/** Printable ASCII, one space after the colon, none at the end of a line. */
const PLAIN_HEAD = /^POST \/api\/v1\/events HTTP\/1\.1\r\n(?:[A-Za-z-]+: [!-~](?:[ -~]*[!-~])?\r\n)+$/;

/** Returns null unless the bytes begin with a complete plain head, in which every header is known and occurs once. */
export function readPlainHead(bytes: Buffer): PlainHead | null {
  const headEnd = bytes.indexOf(END_OF_HEAD);
  const bodyStart = headEnd + END_OF_HEAD.length;
  if (headEnd === -1 || bodyStart > MAX_PLAIN_HEAD_BYTES) return null;
  const head = bytes.toString("latin1", 0, headEnd + 2);
  if (!PLAIN_HEAD.test(head)) return null;
  const headers: Record<string, string> = {};
  for (let at = START.length; at < head.length; ) {
    const colon = head.indexOf(":", at);
    const lineEnd = head.indexOf("\r", colon);
    const name = head.slice(at, colon).toLowerCase();
    if (!PLAIN_HEADERS.has(name) || headers[name] !== undefined) return null;
    headers[name] = head.slice(colon + 2, lineEnd);
    at = lineEnd + 2;
  }
  return isPlain(headers) ? { headers, bodyStart, end: bodyStart + Number(headers["content-length"]) } : null;
}

/** Headers that change neither how the body is read nor who the caller is, and those that `isPlain` checks. */
const PLAIN_HEADERS = new Set([
  "accept",
  "accept-encoding",
  "accept-language",
  "authorization",
  "connection",
  "content-length",
  "content-type",
  "forwarded",
  "host",
  "idempotency-key",
  "sec-fetch-mode",
  "traceparent",
  "tracestate",
  "user-agent",
  "via",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-port",
  "x-forwarded-proto",
  "x-real-ip",
  "x-request-id",
]);

function isPlain(headers: Readonly<Record<string, string>>): boolean {
  const length = headers["content-length"] ?? "";
  return (
    headers.host !== undefined &&
    headers.authorization !== undefined &&
    JSON_TYPE.test(headers["content-type"] ?? "") &&
    (headers.connection === undefined || KEEP_ALIVE.test(headers.connection)) &&
    LENGTH.test(length) &&
    Number(length) <= MAX_PLAIN_BODY_BYTES
  );
}

const JSON_TYPE = /^application\/json(?:; ?charset=utf-8)?$/i;
const KEEP_ALIVE = /^keep-alive$/i;
const LENGTH = /^[1-9]\d{0,5}$/;

// The headers of a request as they are sent; the dispatcher adds Host, Connection and Content-Length.
import { BoundedMap } from "@posthorn/wire";
import type { ErrorClass } from "./classify-error.ts";

/** Responses are not decompressed: a compressed body would be stored as received. */
const ACCEPT_ENCODING = "identity";

/** Returns the header lines, each after a line break, or the reason why the request cannot be sent. */
export function headerLines(headers: Readonly<Record<string, string>>): string | ErrorClass {
  let lines = `\r\naccept-encoding: ${ACCEPT_ENCODING}`;
  for (const name in headers) {
    const value = headers[name];
    const start = lineStart(name);
    if (value === undefined || start === OMITTED) continue;
    if (typeof start !== "string") return start;
    if (INVALID_VALUE.test(value)) return INVALID_HEADER;
    lines += start + value;
  }
  return lines;
}

/** Returns the headers that `headerLines` sends, by name. */
export function wireHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const sent = Object.entries(headers).filter(([name]) => lineStart(name) !== OMITTED);
  return { "accept-encoding": ACCEPT_ENCODING, ...Object.fromEntries(sent) };
}

/** Returns the text before the value, or the reason why no header may have this name. */
function lineStart(name: string): string | ErrorClass {
  let start = lineStarts.get(name);
  if (start === undefined) {
    start = newLineStart(name);
    lineStarts.set(name, start);
  }
  return start;
}

function newLineStart(name: string): string | ErrorClass {
  // Before it is lower-cased, because the Kelvin sign becomes a "k" and would be sent as another character.
  if (!TOKEN.test(name)) return INVALID_HEADER;
  const lower = name.toLowerCase();
  if (RESERVED.has(lower)) return RESERVED_HEADER;
  return lower === "accept-encoding" ? OMITTED : `\r\n${name}: `;
}

const OMITTED = "";
const lineStarts = new BoundedMap<string, string | ErrorClass>(1_000);

/** These headers would change the connection, the end of the body, or the virtual host. */
const RESERVED = new Set([
  "host",
  "connection",
  "content-length",
  "transfer-encoding",
  "expect",
  "keep-alive",
  "upgrade",
]);
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const INVALID_VALUE = /[^\t\x20-\x7e\x80-\xff]/;

const INVALID_HEADER: ErrorClass = { error: "invalid_request", detail: "the request has an invalid header" };
const RESERVED_HEADER: ErrorClass = {
  error: "invalid_request",
  detail: `the headers ${[...RESERVED].join(", ")} are reserved`,
};

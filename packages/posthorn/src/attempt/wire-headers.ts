// The headers of a request as they are sent; the dispatcher adds Host, Connection and Content-Length.
import { BoundedMap } from "@posthorn/wire";
import type { ErrorClass } from "./classify-error.ts";

/** Responses are not decompressed: a compressed body would be stored as received. */
const ACCEPT_ENCODING = "identity";

/** Returns the header lines, or the reason why the request cannot be sent. */
export function headerLines(headers: Readonly<Record<string, string>>): string | ErrorClass {
  let lines = `accept-encoding: ${ACCEPT_ENCODING}\r\n`;
  for (const name in headers) {
    const value = headers[name];
    const use = useOf(name);
    if (value === undefined || use === "omitted") continue;
    if (use === "reserved") return RESERVED_HEADER;
    if (use === "invalid" || INVALID_VALUE.test(value)) return INVALID_HEADER;
    lines += `${name}: ${value}\r\n`;
  }
  return lines;
}

/** Returns the headers that `headerLines` sends, by name. */
export function wireHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const sent = Object.entries(headers).filter(([name]) => useOf(name) !== "omitted");
  return { "accept-encoding": ACCEPT_ENCODING, ...Object.fromEntries(sent) };
}

type Use = "sent" | "omitted" | "reserved" | "invalid";

function useOf(name: string): Use {
  let use = uses.get(name);
  if (use === undefined) {
    // Before it is lower-cased, because the Kelvin sign becomes a "k" and would be sent as another character.
    use = TOKEN.test(name) ? decideUse(name.toLowerCase()) : "invalid";
    uses.set(name, use);
  }
  return use;
}

function decideUse(name: string): Use {
  if (name === "accept-encoding") return "omitted";
  return RESERVED.has(name) ? "reserved" : "sent";
}

const uses = new BoundedMap<string, Use>(1_000);

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

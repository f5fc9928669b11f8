// Parses a raw HTTP request: an optional request line, headers, an empty line, and the body.
import { usage } from "../failure.ts";

export interface RawRequest {
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly body: Uint8Array;
  readonly method: string;
  /** The requested URL; undefined if there is no request line and Host header. */
  readonly url: string | undefined;
}

export function parseRequest(bytes: Buffer): RawRequest {
  const { head, body } = split(bytes);
  const [first = "", ...rest] = head.split(/\r?\n/);
  const [, method, target] = /^([A-Z]+) (\S+)(?: HTTP\/[\d.]+)?$/.exec(first) ?? [];
  const lines = target === undefined ? [first, ...rest] : rest;
  const headers: Record<string, string[]> = Object.create(null) as Record<string, string[]>;
  for (const line of lines.filter((line) => line !== "")) {
    const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*$/.exec(line) ?? [];
    if (name === undefined || value === undefined) {
      throw usage(
        `"${line.slice(0, 60)}" is not a header. Write headers as 'name: value', then an empty line, then the body.`,
      );
    }
    const lower = name.toLowerCase();
    headers[lower] = [...(headers[lower] ?? []), value];
  }
  return { headers, body, method: method ?? "POST", url: urlOf(target, headers.host?.[0]) };
}

/** Assumes https, because senders use it even if a proxy has removed TLS. */
function urlOf(target: string | undefined, host: string | undefined): string | undefined {
  if (target === undefined || /^https?:/i.test(target)) return target;
  return host === undefined ? undefined : `https://${host}${target}`;
}

function split(bytes: Buffer): { head: string; body: Buffer } {
  const ends = ["\r\n\r\n", "\n\n"]
    .map((mark) => ({ at: bytes.indexOf(mark), length: mark.length }))
    .filter(({ at }) => at !== -1)
    .toSorted((a, b) => a.at - b.at);
  const [end] = ends;
  if (end === undefined) {
    throw usage(
      "The empty line between headers and body is missing. Pass the whole request, or use --header for the headers.",
    );
  }
  return { head: bytes.subarray(0, end.at).toString("latin1"), body: bytes.subarray(end.at + end.length) };
}

// Reserved header names, and the validation of custom ones: an invalid header must be rejected when it is saved, because
// it would fail every attempt.

import { BoundedMap } from "./bounded-map.ts";

export const DEFAULT_HEADER_PREFIX = "X-Webhook";
export const MAX_CUSTOM_HEADERS = 20;
/** Names and values together. */
export const MAX_CUSTOM_HEADER_BYTES = 8192;
const MAX_PREFIX_LENGTH = 64;

export interface HeaderNames {
  readonly id: string;
  readonly timestamp: string;
  readonly signature: string;
  /** For schemes whose header holds only one signature; see `SignatureFormat.holdsMany`. */
  readonly signatureNext: string;
  readonly event: string;
  readonly deliveryId: string;
  readonly attempt: string;
  /** Only in deliveries of an edited copy of an event. */
  readonly editedFrom: string;
}

/** `X-Webhook` gives `X-Webhook-Id`, `X-Webhook-Timestamp`, … */
export function headerNames(prefix: string = DEFAULT_HEADER_PREFIX): HeaderNames {
  let names = known.get(prefix);
  if (names === undefined) {
    names = {
      id: `${prefix}-Id`,
      timestamp: `${prefix}-Timestamp`,
      signature: `${prefix}-Signature`,
      signatureNext: `${prefix}-Signature-Next`,
      event: `${prefix}-Event`,
      deliveryId: `${prefix}-Delivery-Id`,
      attempt: `${prefix}-Attempt`,
      editedFrom: `${prefix}-Edited-From`,
    };
    known.set(prefix, names);
  }
  return names;
}

// Names that are built for every request must be hashed again when they become keys: 0.7 µs per delivery.
const known = new BoundedMap<string, HeaderNames>(256);

/** The problem with a header prefix, as a sentence, or null. */
export function headerPrefixProblem(prefix: string): string | null {
  if (!TOKEN.test(prefix)) return "A header prefix has letters, digits and hyphens only, such as X-Webhook.";
  if (prefix.length > MAX_PREFIX_LENGTH)
    return `A header prefix has at most ${MAX_PREFIX_LENGTH} characters.`;
  if (prefix.endsWith("-")) return "Leave out the hyphen at the end of the header prefix; it is added.";
  const names = Object.values(headerNames(prefix));
  if (names.some((name) => isReservedHeader(name))) {
    return `The header prefix ${prefix} makes names that are reserved for other uses; choose another, such as X-Webhook.`;
  }
  return null;
}

export interface HeaderProblem {
  readonly header: string;
  /** Never quotes a value, because it may be a credential. */
  readonly message: string;
}

/**
 * All problems with a customer's headers; empty if they can be saved. `taken`: further reserved names, in lower
 * case.
 */
export function validateCustomHeaders(
  headers: Readonly<Record<string, unknown>>,
  prefix: string = DEFAULT_HEADER_PREFIX,
  taken: ReadonlySet<string> = new Set(),
): HeaderProblem[] {
  const entries = Object.entries(headers);
  const problems: HeaderProblem[] = [];
  const seen = new Set<string>();
  let bytes = 0;
  for (const [header, value] of entries) {
    const message =
      (taken.has(header.toLowerCase()) ? SENDERS_OWN : headerProblem(header, value, prefix)) ??
      repetition(header, seen);
    if (message !== null) problems.push({ header, message });
    bytes += header.length + (typeof value === "string" ? value.length : 0);
  }
  if (entries.length > MAX_CUSTOM_HEADERS) {
    problems.push({ header: "", message: `At most ${MAX_CUSTOM_HEADERS} custom headers are sent.` });
  }
  if (bytes > MAX_CUSTOM_HEADER_BYTES) {
    const message = `Names and values of custom headers have at most ${MAX_CUSTOM_HEADER_BYTES} bytes together.`;
    problems.push({ header: "", message });
  }
  return problems;
}

/** Returns whether Posthorn or the HTTP connection sets the header; custom headers of that name are rejected. */
export function isReservedHeader(name: string, prefix?: string): boolean {
  const lower = name.toLowerCase();
  if (RESERVED.has(lower) || RESERVED_FAMILIES.some((family) => lower.startsWith(family))) return true;
  return prefix !== undefined && lower.startsWith(`${prefix.toLowerCase()}-`);
}

// RFC 9110 §5.6.2; values without the obsolete bytes of §5.5 and without tabs.
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VISIBLE_VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

const RESERVED = new Set(
  (
    "host connection content-length transfer-encoding te trailer upgrade expect keep-alive forwarded cookie " +
    "content-type content-encoding accept-encoding user-agent traceparent tracestate"
  ).split(" "),
);
const RESERVED_FAMILIES = ["proxy-", "x-forwarded-", "webhook-", "posthorn-", "ce-"];

/** Metadata services of clouds require these headers, so that nobody gets credentials by a URL alone. */
const METADATA =
  /^(?:metadata|metadata-flavor|x-aws-ec2-metadata-token.*|x-google-metadata-request|x-metadata-token)$/i;

const SENDERS_OWN = "This header is set by the sender and cannot be changed.";

function headerProblem(header: string, value: unknown, prefix: string): string | null {
  // "__proto__" would be lost in an object.
  if (!TOKEN.test(header) || header === "__proto__")
    return "A header name has letters, digits and hyphens only.";
  if (isReservedHeader(header, prefix)) return SENDERS_OWN;
  if (METADATA.test(header)) return "This header is for metadata services, which are never receivers.";
  if (typeof value !== "string") return "A header value is a string.";
  if (!VISIBLE_VALUE.test(value)) {
    return "A header value has visible ASCII characters, with spaces only between them, and is not empty.";
  }
  return null;
}

function repetition(header: string, seen: Set<string>): string | null {
  const lower = header.toLowerCase();
  if (seen.has(lower)) return "This header is given twice; upper and lower case do not distinguish headers.";
  seen.add(lower);
  return null;
}

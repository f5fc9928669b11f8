// Checks a URL when an endpoint is registered, and again when the dispatcher sends to it, which caches the result. The
// connector checks the addresses that a name resolves to.

import { isIP } from "node:net";
import { parseUrl } from "@posthorn/wire";
import { type AddressPolicy, isAllowedAddress, isNeverAllowed, isOperatorAllowed } from "./guard-address.ts";

export type UrlProblemCode =
  | "invalid_url"
  | "url_too_long"
  | "scheme_not_allowed"
  | "credentials_in_url"
  | "host_not_allowed"
  | "port_not_allowed"
  | "blocked_address";

export interface UrlProblem {
  readonly code: UrlProblemCode;
  /** Says what is wrong and how to fix it; safe to show to a tenant. */
  readonly message: string;
}

export type UrlCheck =
  | { readonly ok: true; readonly href: string }
  | { readonly ok: false; readonly problem: UrlProblem };

const MAX_URL_BYTES = 2048;

/** Returns the normalised URL: store and connect to that one, never to the input. */
export function checkUrl(text: string, policy: AddressPolicy): UrlCheck {
  // Before parsing, because the parser silently removes tab, CR and LF.
  if (/\p{Cc}/u.test(text)) {
    return refuse("invalid_url", "The URL contains a control character. Remove line breaks and tabs.");
  }
  if (Buffer.byteLength(text) > MAX_URL_BYTES) return refuse("url_too_long", TOO_LONG);
  const url = parseUrl(text);
  if (url === null) {
    return refuse("invalid_url", "This is not a URL. Write it in full: https://example.com/webhooks.");
  }
  const problem =
    checkScheme(url, policy) ?? checkCredentials(url) ?? checkHost(url, policy) ?? checkPort(url, policy);
  if (problem !== null) return { ok: false, problem };
  url.hash = "";
  // Percent-encoding may have made it longer.
  return url.href.length > MAX_URL_BYTES ? refuse("url_too_long", TOO_LONG) : { ok: true, href: url.href };
}

const TOO_LONG = `The URL is longer than ${MAX_URL_BYTES} bytes. Use a shorter one.`;

function checkScheme(url: URL, policy: AddressPolicy): UrlProblem | null {
  if (url.protocol === "https:") return null;
  if (url.protocol === "http:") {
    if (policy.allowHttp) return null;
    return {
      code: "scheme_not_allowed",
      message:
        "http:// is not allowed here. Use an https:// URL. An operator can allow http:// with POSTHORN_ALLOW_HTTP, or " +
        'the library\'s option "allowHttp".',
    };
  }
  return {
    code: "scheme_not_allowed",
    message: `${url.protocol} URLs are not allowed. Use an https:// URL.`,
  };
}

function checkCredentials(url: URL): UrlProblem | null {
  if (url.username === "" && url.password === "") return null;
  return {
    code: "credentials_in_url",
    message: "The URL contains a user name or password. Remove it and send credentials in a custom header.",
  };
}

function checkHost(url: URL, policy: AddressPolicy): UrlProblem | null {
  const host = unbracketed(url.hostname);
  const family = isIP(host);
  if (family === 0) return checkHostName(host, policy);
  if (isAllowedAddress(host, family === 6 ? 6 : 4, policy)) return null;
  return isNeverAllowed(host) ? NEVER_ALLOWED : BLOCKED;
}

export const BLOCKED: UrlProblem = {
  code: "blocked_address",
  message:
    "This address is not allowed, because it is not a public one. Use a host that is reachable on the public internet. " +
    'An operator can allow private ranges with POSTHORN_ALLOW_CIDRS, or the library\'s option "allowCidrs".',
};

/** No setting allows metadata services: they return credentials to any caller. */
const NEVER_ALLOWED: UrlProblem = {
  code: "blocked_address",
  message: "This address is never allowed. Use a host that is reachable on the public internet.",
};

function checkHostName(name: string, policy: AddressPolicy): UrlProblem | null {
  if (name === "metadata.google.internal") return NEVER_ALLOWED;
  if (name === "localhost" || name.endsWith(".localhost")) {
    return isLoopbackAllowed(policy) ? null : BLOCKED;
  }
  if (name.endsWith(".")) {
    if (name === "localhost.") return BLOCKED;
    return { code: "host_not_allowed", message: "The host name ends in a dot. Remove the dot." };
  }
  if (name.length > 253 || !name.split(".").every(isLabel)) {
    return {
      code: "host_not_allowed",
      message: "The host name is not valid. Use letters, digits and hyphens, with dots between the parts.",
    };
  }
  // An operator who allowed a private range reaches it by private names; the connector still checks each address.
  if (policy.allowedCidrs.length > 0) return null;
  if (!name.includes(".") || PRIVATE_SUFFIXES.some((suffix) => name.endsWith(suffix))) {
    return {
      code: "host_not_allowed",
      message:
        "This host name is only known inside a private network. Use a full public name such as hooks.example.com.",
    };
  }
  return null;
}

const PRIVATE_SUFFIXES = [".local", ".internal", ".home.arpa"];

function isLabel(label: string): boolean {
  return /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(label);
}

function checkPort(url: URL, policy: AddressPolicy): UrlProblem | null {
  if (url.port === "") return null;
  const port = Number(url.port);
  if (port === 80 || port === 443) return null;
  if (port >= 1024 && (!REFUSED_PORTS.has(port) || isHostOpenedByOperator(url, policy))) return null;
  return {
    code: "port_not_allowed",
    message: `Port ${port} is not allowed. Use 443, or a port from 1024 up that no other well-known service uses.`,
  };
}

function isHostOpenedByOperator(url: URL, policy: AddressPolicy): boolean {
  const host = unbracketed(url.hostname);
  if (host === "localhost" || host.endsWith(".localhost")) return isLoopbackAllowed(policy);
  return isOperatorAllowed(host, policy);
}

function isLoopbackAllowed(policy: AddressPolicy): boolean {
  return isOperatorAllowed("127.0.0.1", policy) || isOperatorAllowed("::1", policy);
}

// The Fetch standard's bad ports from 1024 up, and ports of data stores and control planes that a request could harm.
const REFUSED_PORTS = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697,
  10080, 1433, 1521, 2375, 2379, 2380, 3306, 3389, 5432, 5672, 6379, 9042, 9092, 9200, 9300, 10250, 11211,
  27017,
]);

function unbracketed(hostname: string): string {
  return hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
}

function refuse(code: UrlProblemCode, message: string): UrlCheck {
  return { ok: false, problem: { code, message } };
}

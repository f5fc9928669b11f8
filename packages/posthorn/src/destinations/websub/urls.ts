// Comparison of topic and callback URLs, and adding parameters to a callback. URLs are joined as text, because
// URLSearchParams writes `?foo=a%20b&x` as `?foo=a+b&x=`, and the subscriber's own parameters must not change.
import { createHash } from "node:crypto";

/**
 * Normalises a URL for comparison: percent-encoded unreserved characters are decoded (RFC 3986 §6.2.2.2), the host is
 * in lower case, a default port is omitted.
 */
export function comparable(url: string): string {
  const { href } = new URL(withoutFragment(url));
  return href.replaceAll(/%[0-9A-Fa-f]{2}/g, (encoded) => {
    const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
    return /[A-Za-z0-9._~-]/.test(character) ? character : encoded.toUpperCase();
  });
}

/** The identity of a subscription (REC 5.1). */
export function pairOf(topic: string, callback: string): Buffer {
  return createHash("sha256")
    .update(`${comparable(topic)}\n${comparable(callback)}`)
    .digest();
}

export function topicHash(topic: string): string {
  return createHash("sha256").update(comparable(topic)).digest("hex");
}

export function hostOf(url: string): string {
  return new URL(url).hostname;
}

/**
 * Returns the last two labels of a name, under which one owner may have any number of hosts. An address is its own
 * domain.
 */
export function domainOf(host: string): string {
  const name = host.replace(/\.$/, "");
  return /^[\d.]+$/.test(name) ? name : name.split(".").slice(-2).join(".");
}

export function withoutFragment(url: string): string {
  const [text = ""] = url.split("#", 1);
  return text;
}

export function withParameters(callback: string, parameters: Readonly<Record<string, string>>): string {
  const query = Object.entries(parameters)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join("&");
  if (!callback.includes("?")) return `${callback}?${query}`;
  return /[?&]$/.test(callback) ? callback + query : `${callback}&${query}`;
}

/** Both links in one header, because some subscribers read only the first header (REC 4.1, 7). */
export function discoveryLink(hubUrl: string, topic: string): string {
  // the topic is repeated as written, except for characters that would end the reference or break the header
  const self = topic.replaceAll(/[<>"\s]|[^\x20-\x7e]/gu, (character) => encodeURIComponent(character));
  return `<${hubUrl}>; rel="hub", <${self}>; rel="self"`;
}

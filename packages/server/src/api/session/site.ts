// Where this server is, as a browser sees it: host, scheme and path. What was set is believed; without it, what was asked.
import type { IncomingMessage } from "node:http";
import { isIPv4 } from "node:net";

export interface SiteOptions {
  /** Where people reach it: `https://hooks.example.com/in`. */
  readonly publicUrl?: string | undefined;
  /** Host names besides that one and loopback. */
  readonly allowedHosts?: readonly string[] | undefined;
}

export class Site {
  readonly #publicUrl: URL | null;
  readonly #hosts: ReadonlySet<string>;

  constructor({ publicUrl, allowedHosts = [] }: SiteOptions) {
    this.#publicUrl = publicUrl === undefined ? null : new URL(publicUrl);
    this.#hosts = new Set([
      ...(this.#publicUrl === null ? [] : [this.#publicUrl.hostname]),
      ...allowedHosts.map((host) => host.toLowerCase()),
    ]);
  }

  /** Empty, or `/webhooks`: what stands before every path of ours. */
  basePath(request: IncomingMessage): string {
    return this.#publicUrl === null ? mountPath(request) : this.#publicUrl.pathname.replace(/\/+$/, "");
  }

  isHttps({ socket }: IncomingMessage): boolean {
    return this.#publicUrl === null ? "encrypted" in socket : this.#publicUrl.protocol === "https:";
  }

  /** Whose name leads here by somebody else's DNS has a page of theirs on our origin: only names that were set do. */
  isKnownHost(request: IncomingMessage): boolean {
    const { hostname } = splitHost(request) ?? {};
    return hostname !== undefined && (isLoopback(hostname) || this.#hosts.has(hostname));
  }

  /** Of what the browser says about the page that asks: no other than ours. What it does not say is not held against it. */
  isOwnPage(request: IncomingMessage): boolean {
    const { origin } = request.headers;
    const site = request.headers["sec-fetch-site"];
    if (site !== undefined && site !== "same-origin") return false;
    if (origin === undefined) return true;
    if (!URL.canParse(origin)) return false;
    const { protocol, host } = new URL(origin);
    if (this.#publicUrl !== null && this.#publicUrl.origin === `${protocol}//${host}`) return true;
    if (this.isHttps(request) && protocol !== "https:") return false;
    return host === splitHost(request)?.host.replace(protocol === "https:" ? /:443$/ : /:80$/, "");
  }

  /** Without a slash at the end. A host that is none is left out: it is pasted into shells and mails. */
  url(request: IncomingMessage): string {
    if (this.#publicUrl !== null) return this.#publicUrl.href.replace(/\/+$/, "");
    const { host = "…" } = splitHost(request) ?? {};
    return `${this.isHttps(request) ? "https" : "http"}://${host}${mountPath(request)}`;
  }
}

function splitHost({ headers }: IncomingMessage): { host: string; hostname: string } | null {
  const given = headers.host ?? (headers[":authority"] as string | undefined) ?? "";
  const [, name, port = ""] = /^([\w.-]+|\[[\da-f:.]+\])(:\d+)?$/i.exec(given.toLowerCase()) ?? [];
  if (name === undefined) return null;
  const hostname = name.replace(/\.$/, "");
  return { host: hostname + port, hostname };
}

function isLoopback(hostname: string): boolean {
  if (isIPv4(hostname)) return hostname.startsWith("127.");
  return hostname === "localhost" || hostname.endsWith(".localhost") || hostname === "[::1]";
}

/** Where an application mounted us; empty when it did not. Anything but plain segments is no place to lead people to. */
export function mountPath(request: IncomingMessage): string {
  const { originalUrl, url = "/" } = request as IncomingMessage & { originalUrl?: string };
  if (originalUrl === undefined) return "";
  const [asked = "/"] = originalUrl.split("?");
  const [path = "/"] = url.split("?");
  const mount = asked.endsWith(path) ? asked.slice(0, asked.length - path.length) : asked;
  const plain = mount.replace(/\/+$/, "");
  return /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)*$/.test(plain) ? plain : "";
}

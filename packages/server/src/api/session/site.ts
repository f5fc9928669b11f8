// Host, scheme and path of this server as browsers see them: from the configured public URL, or else from the request.

import type { IncomingMessage } from "node:http";
import { isIPv4 } from "node:net";
import { parseUrl } from "@posthorn/wire";

export interface SiteOptions {
  /** Public URL, such as `https://hooks.example.com/in`. */
  readonly publicUrl?: string | undefined;
  /** Additional host names; the host of the public URL and loopback names are always allowed. */
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

  /** Prefix of all paths: empty, or such as `/webhooks`. */
  basePath(request: IncomingMessage): string {
    return this.#publicUrl === null ? mountPath(request) : this.#publicUrl.pathname.replace(/\/+$/, "");
  }

  isHttps({ socket }: IncomingMessage): boolean {
    return this.#publicUrl === null ? "encrypted" in socket : this.#publicUrl.protocol === "https:";
  }

  /** Protects against DNS rebinding: only configured host names and loopback are accepted. */
  isKnownHost(request: IncomingMessage): boolean {
    const { hostname } = splitHost(request) ?? {};
    return hostname !== undefined && (isLoopback(hostname) || this.#hosts.has(hostname));
  }

  /** Checks Origin and Sec-Fetch-Site, if the browser sends them. */
  isOwnPage(request: IncomingMessage): boolean {
    const { origin } = request.headers;
    const site = request.headers["sec-fetch-site"];
    if (site !== undefined && site !== "same-origin") return false;
    if (origin === undefined) return true;
    const url = parseUrl(origin);
    if (url === null) return false;
    const { protocol, host } = url;
    if (this.#publicUrl !== null && this.#publicUrl.origin === `${protocol}//${host}`) return true;
    if (this.isHttps(request) && protocol !== "https:") return false;
    return host === splitHost(request)?.host.replace(protocol === "https:" ? /:443$/ : /:80$/, "");
  }

  /** Public URL without a trailing slash. An invalid Host header is left out, because the URL is pasted into shells and mails. */
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

/** Path where an application mounted the handler, or empty. Anything but plain segments is ignored. */
export function mountPath(request: IncomingMessage): string {
  const { originalUrl, url = "/" } = request as IncomingMessage & { originalUrl?: string };
  if (originalUrl === undefined) return "";
  const [asked = "/"] = originalUrl.split("?");
  const [path = "/"] = url.split("?");
  const mount = asked.endsWith(path) ? asked.slice(0, asked.length - path.length) : asked;
  const plain = mount.replace(/\/+$/, "");
  return /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)*$/.test(plain) ? plain : "";
}

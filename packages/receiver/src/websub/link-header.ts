// Parses `Link` headers (RFC 8288) tolerantly: the first place where a topic names its hubs and itself.
import { parseUrl } from "@posthorn/wire";

export interface Links {
  readonly hubs: readonly string[];
  readonly self: string | null;
}

/** One hub is asked at a time, so more are ignored. */
export const MAX_HUBS = 10;

/** Several headers may be joined by commas, as `Headers` does. Takes linear time. */
export function readLinkHeader(header: string, base: string): Links {
  const links: FoundLink[] = [];
  let at = header.indexOf("<");
  while (at !== -1) {
    const end = header.indexOf(">", at);
    if (end === -1) break;
    const rest = endOfParameters(header, end + 1);
    links.push({ href: header.slice(at + 1, end), rel: relIn(header.slice(end + 1, rest)) });
    at = header.indexOf("<", rest);
  }
  return linksOf(links, base);
}

export interface FoundLink {
  readonly href: string;
  readonly rel: string;
}

/** The hubs in order, and the first self link; other than http URLs are ignored. */
export function linksOf(found: readonly FoundLink[], base: string): Links {
  const ofRel = (wanted: string): string[] =>
    found
      .filter(({ rel }) => rel.toLowerCase().split(/\s+/).includes(wanted))
      .flatMap(({ href }) => httpUrl(href.trim(), base) ?? []);
  return { hubs: [...new Set(ofRel("hub"))].slice(0, MAX_HUBS), self: ofRel("self")[0] ?? null };
}

export function httpUrl(text: string, base?: string): string | null {
  const url = parseUrl(text, base);
  if (url === null) return null;
  url.hash = "";
  return url.protocol === "https:" || url.protocol === "http:" ? url.href : null;
}

/** The index of the comma that ends this link; commas in quotes do not. */
function endOfParameters(header: string, from: number): number {
  let isQuoted = false;
  for (let at = from; at < header.length; at++) {
    if (header[at] === '"') isQuoted = !isQuoted;
    else if (header[at] === "\\" && isQuoted) at += 1;
    else if (header[at] === "," && !isQuoted) return at;
  }
  return header.length;
}

/** The first one counts, RFC 8288 §3.3. */
function relIn(parameters: string): string {
  for (const [, name = "", quoted, bare] of parameters.matchAll(PARAMETER)) {
    if (name.toLowerCase() === "rel") return quoted ?? bare ?? "";
  }
  return "";
}

/** Matches the value too, so that quoted text is not mistaken for a parameter. */
const PARAMETER = /;\s{0,16}([^\s=;,"]{1,64})\s{0,16}=\s{0,16}(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*))/g;

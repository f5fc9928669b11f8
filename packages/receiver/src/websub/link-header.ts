// `Link` headers (RFC 8288), read tolerantly: the first place where a topic names its hubs and itself.

export interface Links {
  readonly hubs: readonly string[];
  readonly self: string | null;
}

/** More are not looked at: one hub is asked at a time. */
export const MAX_HUBS = 10;

/** Several headers may be joined by commas, as `Headers` does. Each character is looked at a fixed number of times. */
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

/** Hubs in their order, and the first self; what is no http URL is left out. */
export function linksOf(found: readonly FoundLink[], base: string): Links {
  const ofRel = (wanted: string): string[] =>
    found
      .filter(({ rel }) => rel.toLowerCase().split(/\s+/).includes(wanted))
      .flatMap(({ href }) => httpUrl(href.trim(), base) ?? []);
  return { hubs: [...new Set(ofRel("hub"))].slice(0, MAX_HUBS), self: ofRel("self")[0] ?? null };
}

export function httpUrl(text: string, base?: string): string | null {
  if (!URL.canParse(text, base)) return null;
  const url = new URL(text, base);
  url.hash = "";
  return url.protocol === "https:" || url.protocol === "http:" ? url.href : null;
}

/** Where the comma is that ends this link; one inside of quotes does not. */
function endOfParameters(header: string, from: number): number {
  let isQuoted = false;
  for (let at = from; at < header.length; at++) {
    if (header[at] === '"') isQuoted = !isQuoted;
    else if (header[at] === "\\" && isQuoted) at += 1;
    else if (header[at] === "," && !isQuoted) return at;
  }
  return header.length;
}

/** The first counts, RFC 8288 §3.3. */
function relIn(parameters: string): string {
  for (const [, name = "", quoted, bare] of parameters.matchAll(PARAMETER)) {
    if (name.toLowerCase() === "rel") return quoted ?? bare ?? "";
  }
  return "";
}

/** With its value, so that nothing within quotes is taken for another. */
const PARAMETER = /;\s{0,16}([^\s=;,"]{1,64})\s{0,16}=\s{0,16}(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*))/g;

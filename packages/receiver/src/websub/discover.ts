// Finds the hubs and the canonical URL of a topic: WebSub §4. Headers first, then the links in a feed or page.
import { type HttpOptions, readUpTo, request } from "./http.ts";
import { readLinkElements } from "./link-elements.ts";
import { httpUrl, readLinkHeader } from "./link-header.ts";

export interface Discovered {
  /** The topic's canonical URL, which may differ from the URL it was found by. */
  readonly topic: string;
  /** At least one; all distribute the same content. */
  readonly hubs: readonly [string, ...string[]];
}

/** Far more than precedes the first entry of a feed. */
const MAX_DISCOVERY_BYTES = 512 * 1024;

/** Throws an error whose message is a sentence for the log. */
export async function discover(url: string, options: HttpOptions): Promise<Discovered> {
  const response = await request(url, { redirect: "follow", headers: { accept: ACCEPT } }, options);
  // The URL after all redirects.
  const base = httpUrl(response.url || url) ?? url;
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`${url} returned HTTP ${response.status}, so its hub is unknown.`);
  }
  const announced = readLinkHeader(response.headers.get("link") ?? "", base);
  const isWhole = announced.hubs.length > 0 && announced.self !== null;
  const embedded = isWhole
    ? announced
    : readLinkElements(await readUpTo(response, MAX_DISCOVERY_BYTES), base);
  if (isWhole) await response.body?.cancel();
  const [hub, ...others] = announced.hubs.length > 0 ? announced.hubs : embedded.hubs;
  if (hub === undefined) throw new Error(`${url} names no hub in a Link header or a <link> element.`);
  return { topic: announced.self ?? embedded.self ?? base, hubs: [hub, ...others] };
}

const ACCEPT = "application/atom+xml, application/rss+xml, application/feed+json, text/html;q=0.9, */*;q=0.8";

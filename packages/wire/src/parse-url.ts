/**
 * Returns null if the text is not a URL. Node 20 has no URL.parse, and its URL.canParse refuses letters such as ü after some
 * thousand calls, when it is optimized.
 */
export function parseUrl(text: string, base?: string): URL | null {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}

/** Returns the host of a URL with its port; the text itself if it is not a URL. */
export function hostOf(url: string): string {
  return parseUrl(url)?.host ?? url;
}

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

// Reads headers of any framework, by name in any case.
import { type HeaderSource, valuesOf } from "@posthorn/wire";

/** Null if the header is absent or empty. Repeated values are joined, as `Headers` does. */
export function readHeader(headers: HeaderSource, name: string): string | null {
  const value = typeof headers.get === "function" ? headers.get(name) : valuesOf(headers, name).join(", ");
  return value || null;
}

/** The headers whose names begin with a prefix such as `ce-`, with lower-case names. */
export function headersWith(headers: HeaderSource, prefix: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const name of namesIn(headers)) {
    const lower = name.toLowerCase();
    const value = lower.startsWith(prefix) ? readHeader(headers, lower) : null;
    if (value !== null) found.set(lower, value);
  }
  return found;
}

function namesIn(headers: HeaderSource): Iterable<string> {
  if (typeof headers.get !== "function") return Object.keys(headers);
  return (headers as { keys?(): Iterable<string> }).keys?.() ?? [];
}

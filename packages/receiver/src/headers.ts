// Reads headers of any framework, by name in any case.
import type { HeaderSource } from "@posthorn/wire";

/** Null if the header is absent or empty. Repeated values are joined, as `Headers` does. */
export function readHeader(headers: HeaderSource, name: string): string | null {
  if (hasGet(headers)) return headers.get(name) || null;
  const wanted = name.toLowerCase();
  const values = Object.entries(headers)
    .filter(([key]) => key.toLowerCase() === wanted)
    .flatMap(([, value]) => value ?? []);
  return values.join(", ") || null;
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
  if (!hasGet(headers)) return Object.keys(headers);
  return "keys" in headers && typeof headers.keys === "function" ? (headers.keys() as Iterable<string>) : [];
}

function hasGet(headers: HeaderSource): headers is { get(name: string): string | null } {
  return typeof headers.get === "function";
}

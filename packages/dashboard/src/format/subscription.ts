// Whether an endpoint's event patterns match a type: exactly, by a prefix such as `order.*`, or by `*`.

export function matchesType(events: readonly string[], type: string): boolean {
  return events.some(
    (pattern) =>
      pattern === "*" ||
      pattern === type ||
      (pattern.endsWith(".*") && type.startsWith(pattern.slice(0, -1))),
  );
}

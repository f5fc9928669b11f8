// Whether an endpoint's list of events includes a type: exactly, by a prefix such as `order.*`, or by `*`.

export function asksFor(events: readonly string[], type: string): boolean {
  return events.some(
    (pattern) =>
      pattern === "*" ||
      pattern === type ||
      (pattern.endsWith(".*") && type.startsWith(pattern.slice(0, -1))),
  );
}

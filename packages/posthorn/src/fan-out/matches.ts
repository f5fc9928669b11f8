// Which event types an endpoint asked for: an exact type, everything below a prefix (`order.*`), or all (`*`).
export function matches(patterns: readonly string[], type: string): boolean {
  return patterns.some((pattern) => matchesOne(pattern, type));
}

function matchesOne(pattern: string, type: string): boolean {
  if (pattern === "*" || pattern === type) return true;
  return pattern.endsWith(".*") && type.startsWith(pattern.slice(0, -1));
}

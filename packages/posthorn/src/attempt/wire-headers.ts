// The headers of a request as they are sent; undici adds Host, Connection and Content-Length.

/**
 * Returns the list that undici expects; null if a header would change the connection or the name that the certificate
 * is checked for.
 */
export function wireHeaders(headers: Readonly<Record<string, string>>): string[] | null {
  const list = ["accept-encoding", "identity"];
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined) continue;
    if (RESERVED_LENGTHS.has(name.length)) {
      const lower = name.toLowerCase();
      if (lower === "accept-encoding") continue;
      if (lower === "host" || lower === "connection") return null;
    }
    list.push(name, value);
  }
  return list;
}

const RESERVED_LENGTHS = new Set(["accept-encoding", "host", "connection"].map((name) => name.length));

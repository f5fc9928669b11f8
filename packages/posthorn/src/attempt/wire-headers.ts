// The headers of a request as they go over the wire; undici adds Host, Connection and Content-Length.

/** As undici wants them. Null when a header would change the connection or the name the certificate is checked for. */
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

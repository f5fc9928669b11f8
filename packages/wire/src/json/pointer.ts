// Reference tokens of a JSON Pointer (RFC 6901 §3 and §4).

/** Escapes a member name for use between the slashes of a pointer. */
export function escapePointer(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** The member name that an escaped token stands for. */
export function unescapePointer(token: string): string {
  return token.replaceAll("~1", "/").replaceAll("~0", "~");
}

// Validates RFC 3986 URI references, part by part. Every pattern is linear, because a source may be as long as the body.

/** Rejects the empty reference, because no attribute may be empty. */
export function isUriReference(text: string): boolean {
  if (text === "") return false;
  const parts = PARTS.exec(text);
  if (parts === null) return false;
  const [, scheme, authority, path = "", query = "", fragment = ""] = parts;
  if (scheme !== undefined && !SCHEME.test(scheme)) return false;
  if (authority !== undefined && !AUTHORITY.test(authority)) return false;
  // §4.2: text before a colon would be a scheme
  const isRelative = scheme === undefined && authority === undefined;
  if (isRelative && (path.split("/", 1)[0] as string).includes(":")) return false;
  return PATH.test(path) && QUERY.test(query) && QUERY.test(fragment);
}

/** Requires a scheme and a non-empty rest. */
export function isAbsoluteUri(text: string): boolean {
  const scheme = PARTS.exec(text)?.[1];
  return scheme !== undefined && text.length > scheme.length + 1 && isUriReference(text);
}

// Appendix B
const PARTS = /^(?:([^:/?#]+):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s;

const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*$/;
const ESCAPED = "%[0-9A-Fa-f]{2}";
const NAME = "[\\w.~!$&'()*+,;=-]";
const USER = `(?:(?:${NAME}|:|${ESCAPED})*@)?`;
const IP_LITERAL = `\\[(?:[0-9A-Fa-f:.]+|[vV][0-9A-Fa-f]+\\.(?:${NAME}|:)+)\\]`;
const AUTHORITY = new RegExp(`^${USER}(?:${IP_LITERAL}|(?:${NAME}|${ESCAPED})*)(?::\\d*)?$`);
const PATH = new RegExp(`^(?:${NAME}|[:@/]|${ESCAPED})*$`);
const QUERY = new RegExp(`^(?:${NAME}|[:@/?]|${ESCAPED})*$`);

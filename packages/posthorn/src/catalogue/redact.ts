// Masks what people without the scope may not see. The bytes a receiver gets never pass here.

export const REDACTED = "[redacted]";
export const MAX_REDACT_PATHS = 50;
export const MAX_REDACT_PATH_LENGTH = 256;

/** A JSON Pointer whose parts may be `*`: every item of an array, every member of an object. */
export function redactPathProblem(path: unknown): string | null {
  const isPath = typeof path === "string" && path.startsWith("/") && !/\p{Cc}|\p{Cs}/u.test(path);
  if (isPath && path.length <= MAX_REDACT_PATH_LENGTH) return null;
  return `A path is a JSON Pointer into data of at most ${MAX_REDACT_PATH_LENGTH} characters, such as /card/number or /lines/*/price.`;
}

/**
 * The JSON of `data` with everything at the paths masked, and what stands in the way of a path as well. Without paths the
 * bytes stay as they are.
 */
export function redactPayload(payload: Uint8Array, paths: readonly string[]): Buffer {
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  if (paths.length === 0) return bytes;
  return Buffer.from(JSON.stringify(redactData(JSON.parse(bytes.toString("utf8")), paths, REDACTED)));
}

/** `data` itself, with the mask in place of everything at the paths. */
export function redactData(data: unknown, paths: readonly string[], mask: unknown): unknown {
  return paths.reduce<unknown>((value, path) => masked(value, partsOf(path), 0, mask), data);
}

/** What a path cannot be followed into may be the secret in another shape, so it is masked where the path ends. */
function masked(value: unknown, parts: readonly string[], at: number, mask: unknown): unknown {
  if (at === parts.length) return mask;
  if (value === null) return null;
  if (typeof value !== "object") return mask;
  const part = parts[at] as string;
  if (Array.isArray(value)) return maskedList(value, parts, at, mask);
  const names = part === "*" ? Object.keys(value) : Object.hasOwn(value, part) ? [part] : [];
  for (const name of names) {
    // defined, not assigned: __proto__ is a name like any other
    const inner = masked((value as Record<string, unknown>)[name], parts, at + 1, mask);
    Object.defineProperty(value, name, {
      value: inner,
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return value;
}

const INDEX = /^(0|[1-9]\d*)$/;

/** A name means that of every item: there may be several where one was expected, also in lists within lists. */
function maskedList(
  list: readonly unknown[],
  parts: readonly string[],
  at: number,
  mask: unknown,
): unknown[] {
  const part = parts[at] as string;
  if (INDEX.test(part)) {
    return list.map((item, index) => (index === Number(part) ? masked(item, parts, at + 1, mask) : item));
  }
  const next = part === "*" ? at + 1 : at;
  return list.map((item) => masked(item, parts, next, mask));
}

function partsOf(path: string): string[] {
  return path
    .slice(1)
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

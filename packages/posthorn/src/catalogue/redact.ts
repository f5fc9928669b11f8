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

/** The JSON of `data` with everything at the paths masked. Without paths the bytes stay as they are. */
export function redactPayload(payload: Uint8Array, paths: readonly string[]): Buffer {
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  if (paths.length === 0) return bytes;
  return Buffer.from(JSON.stringify(redactData(JSON.parse(bytes.toString("utf8")), paths, REDACTED)));
}

/** `data` itself, with the mask in place of everything at the paths. */
export function redactData(data: unknown, paths: readonly string[], mask: unknown): unknown {
  return paths.reduce<unknown>((value, path) => masked(value, partsOf(path), 0, mask), data);
}

function masked(value: unknown, parts: readonly string[], at: number, mask: unknown): unknown {
  if (at === parts.length) return mask;
  if (typeof value !== "object" || value === null) return value;
  const part = parts[at] as string;
  const names = part === "*" ? Object.keys(value) : isMember(value, part) ? [part] : [];
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

/** Of JSON: an array has a length of its own, but no member of that name. */
function isMember(value: object, name: string): boolean {
  return Object.prototype.propertyIsEnumerable.call(value, name);
}

function partsOf(path: string): string[] {
  return path
    .slice(1)
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

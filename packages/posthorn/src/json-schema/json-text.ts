// Serializes a caller's value before anything traverses it.
import { jsonDepth } from "../event/json-depth.ts";

/** Maximum depth of schemas, examples and documents. */
export const MAX_JSON_DEPTH = 128;

/** Returns null if it is circular, contains a BigInt, is a function, or is nested too deeply. */
export function jsonText(value: unknown): string | null {
  try {
    const text = JSON.stringify(value);
    return text === undefined || jsonDepth(Buffer.from(text)) > MAX_JSON_DEPTH ? null : text;
  } catch {
    return null;
  }
}

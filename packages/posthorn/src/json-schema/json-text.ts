// The JSON of what a caller passes, before anything walks through it.
import { jsonDepth } from "../event/json-depth.ts";

/** Of schemas, examples and documents: more than any of them needs, and no danger to whatever follows it down. */
export const MAX_JSON_DEPTH = 128;

/** Null where there is none: it refers to itself, holds a BigInt, is a function, or is nested too deep. */
export function jsonText(value: unknown): string | null {
  try {
    const text = JSON.stringify(value);
    return text === undefined || jsonDepth(Buffer.from(text)) > MAX_JSON_DEPTH ? null : text;
  } catch {
    return null;
  }
}

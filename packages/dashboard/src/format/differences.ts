// Differences of two JSON values, by JSON Pointer.
import { escapePointer } from "@posthorn/wire";

export interface Difference {
  readonly pointer: string;
  readonly kind: "added" | "removed" | "changed";
  readonly before?: unknown;
  readonly after?: unknown;
}

/** Returns at most `most` differences, in the order of `after`. */
export function differences(before: unknown, after: unknown, most: number): readonly Difference[] {
  const found: Difference[] = [];
  compare("", before, after);
  return found;

  function compare(pointer: string, old: unknown, now: unknown): void {
    if (found.length >= most || Object.is(old, now)) return;
    if (!isContainer(old) || !isContainer(now) || Array.isArray(old) !== Array.isArray(now)) {
      found.push({ pointer, kind: "changed", before: old, after: now });
      return;
    }
    const names = new Set([...Object.keys(now), ...Object.keys(old)]);
    for (const name of names) {
      if (found.length >= most) return;
      const at = `${pointer}/${escapePointer(name)}`;
      if (!Object.hasOwn(old, name)) found.push({ pointer: at, kind: "added", after: now[name] });
      else if (!Object.hasOwn(now, name)) found.push({ pointer: at, kind: "removed", before: old[name] });
      else compare(at, old[name], now[name]);
    }
  }
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

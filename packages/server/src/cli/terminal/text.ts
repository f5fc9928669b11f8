// Safe text for terminals: text from the network must not move the cursor, change colours or reverse the text direction.
import { styleText } from "node:util";
import type { Terminal } from "./terminal.ts";

// Control characters (C0, DEL, C1), the separators that end a line, and the marks that reorder text.
const UNSAFE = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Returns one line without unsafe characters. */
export function clean(text: unknown): string {
  return String(text).replace(UNSAFE, "\u{fffd}");
}

/** Like `clean`, but keeps line breaks and tabs. */
export function cleanLines(text: string): string {
  return text.replace(UNSAFE, (found) => (found === "\n" || found === "\t" ? found : "\u{fffd}"));
}

export function jsonText(value: unknown, indent = 2): string {
  return safeJson(JSON.stringify(value, null, indent));
}

/** Escapes all unsafe characters in JSON; JSON itself escapes only the first 32. */
export function safeJson(json: string): string {
  return json.replace(UNSAFE, (found) => {
    if (found === "\n" || found === "\t") return found;
    // outside strings it is whitespace, and inside it is escaped already
    return found === "\r" ? " " : `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

export type Tone = "good" | "bad" | "warning" | "quiet" | "strong";

const STYLES = { good: "green", bad: "red", warning: "yellow", quiet: "dim", strong: "bold" } as const;

export function toned({ hasColors }: Pick<Terminal, "hasColors">, tone: Tone | null, text: string): string {
  // Without validation, because it would check process.stdout.
  return hasColors && tone !== null ? styleText(STYLES[tone], text, { validateStream: false }) : text;
}

/** `2026-11-15 09:30:00.123Z`. */
export function timeText(time: string | Date | null): string {
  if (time === null) return "–";
  const at = new Date(time);
  return Number.isNaN(at.getTime()) ? clean(time) : at.toISOString().replace("T", " ");
}

/** `in 4 s`, or `now`: a time ahead may have passed since it was read, or this machine's clock may be fast. */
export function distanceText(time: string, now: Date): string {
  const [amount, unit] = inUnits((Date.parse(time) - now.getTime()) / 1000);
  return amount > 0 ? `in ${amount} ${unit}` : "now";
}

function inUnits(seconds: number): [number, string] {
  if (seconds < 90) return [Math.round(seconds), "s"];
  if (seconds < 90 * 60) return [Math.round(seconds / 60), "min"];
  if (seconds < 36 * 3600) return [Math.round(seconds / 3600), "h"];
  return [Math.round(seconds / 86_400), "days"];
}

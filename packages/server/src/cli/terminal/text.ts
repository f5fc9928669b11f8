// Text for people to read: nothing that came over the network may move the cursor, colour the screen or turn the
// reading direction round.
import { styleText } from "node:util";
import type { Terminal } from "./terminal.ts";

// Control characters (C0, DEL, C1), the separators that end a line, and the marks that reorder text.
const HARMFUL = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** One line, safe to show. */
export function clean(text: unknown): string {
  return String(text).replace(HARMFUL, "\u{fffd}");
}

/** As `clean`, but line ends and tabs stay. */
export function cleanLines(text: string): string {
  return text.replace(HARMFUL, (found) => (found === "\n" || found === "\t" ? found : "\u{fffd}"));
}

export function jsonText(value: unknown, indent = 2): string {
  return safeJson(JSON.stringify(value, null, indent));
}

/** JSON that means the same and holds none of them: JSON itself escapes only the first 32. */
export function safeJson(json: string): string {
  return json.replace(HARMFUL, (found) => {
    if (found === "\n" || found === "\t") return found;
    // outside of strings it is only a space, and inside it is written as an escape already
    return found === "\r" ? " " : `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

export type Tone = "good" | "bad" | "warning" | "quiet" | "strong";

const STYLES = { good: "green", bad: "red", warning: "yellow", quiet: "dim", strong: "bold" } as const;

export function toned({ hasColors }: Pick<Terminal, "hasColors">, tone: Tone | null, text: string): string {
  // Validating would look at process.stdout; whether there are colours was decided before.
  return hasColors && tone !== null ? styleText(STYLES[tone], text, { validateStream: false }) : text;
}

/** `2026-11-15 09:30:00.123Z`. */
export function timeText(time: string | Date | null): string {
  if (time === null) return "–";
  const at = new Date(time);
  return Number.isNaN(at.getTime()) ? clean(time) : at.toISOString().replace("T", " ");
}

/** `in 4 s`, `2 h ago`. */
export function distanceText(time: string | null, now: Date): string {
  if (time === null) return "";
  const seconds = (Date.parse(time) - now.getTime()) / 1000;
  const [amount, unit] = inUnits(Math.abs(seconds));
  return seconds >= 0 ? `in ${amount} ${unit}` : `${amount} ${unit} ago`;
}

function inUnits(seconds: number): [number, string] {
  if (seconds < 90) return [Math.round(seconds), "s"];
  if (seconds < 90 * 60) return [Math.round(seconds / 60), "min"];
  if (seconds < 36 * 3600) return [Math.round(seconds / 3600), "h"];
  return [Math.round(seconds / 86_400), "days"];
}

// Parses timestamps strictly: `Number()` would also accept `1e9`, `0x63` and an empty string.

export type TimeFormat = "seconds" | "milliseconds" | "rfc3339";

const SYNTAX: Readonly<Record<TimeFormat, RegExp>> = {
  seconds: /^\d{1,12}$/,
  milliseconds: /^\d{13,15}$/,
  rfc3339: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/,
};

/** Unix milliseconds, or null if the format does not match. */
export function readTimeMs(text: string, format: TimeFormat): number | null {
  if (!SYNTAX[format].test(text)) return null;
  if (format === "seconds") return Number(text) * 1000;
  if (format === "milliseconds") return Number(text);
  // Not every runtime parses more than three fractional digits.
  const time = Date.parse(text.replace(/(\.\d{3})\d+/, "$1"));
  return Number.isNaN(time) ? null : time;
}

export function writeTime(time: Date, format: TimeFormat): string {
  if (format === "rfc3339") return time.toISOString();
  return String(format === "seconds" ? Math.floor(time.getTime() / 1000) : time.getTime());
}

/** Describes why a time is invalid, as the end of a sentence. */
export function timeProblem(text: string, format: TimeFormat): string {
  if (format === "seconds" && SYNTAX.milliseconds.test(text)) return "is in milliseconds, not in seconds";
  if (format === "milliseconds" && SYNTAX.seconds.test(text)) return "is in seconds, not in milliseconds";
  return format === "rfc3339" ? "is not a time such as 2026-01-31T12:00:00Z" : `is not a number of ${format}`;
}

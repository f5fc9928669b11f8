// Times as senders write them, read strictly: `Number()` would also take `1e9`, `0x63` and an empty string.

export type TimeFormat = "seconds" | "milliseconds" | "rfc3339";

const SYNTAX: Readonly<Record<TimeFormat, RegExp>> = {
  seconds: /^\d{1,12}$/,
  milliseconds: /^\d{13,15}$/,
  rfc3339: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/,
};

/** Unix seconds, or null when it is not written so. */
export function readTime(text: string, format: TimeFormat): number | null {
  if (!SYNTAX[format].test(text)) return null;
  if (format === "seconds") return Number(text);
  const milliseconds = format === "milliseconds" ? Number(text) : Date.parse(text);
  return Number.isNaN(milliseconds) ? null : Math.floor(milliseconds / 1000);
}

export function writeTime(time: Date, format: TimeFormat): string {
  if (format === "rfc3339") return time.toISOString();
  return String(format === "seconds" ? Math.floor(time.getTime() / 1000) : time.getTime());
}

/** What is wrong with a time that cannot be read, as the end of a sentence. */
export function timeProblem(text: string, format: TimeFormat): string {
  if (format === "seconds" && SYNTAX.milliseconds.test(text)) return "is in milliseconds, not in seconds";
  if (format === "milliseconds" && SYNTAX.seconds.test(text)) return "is in seconds, not in milliseconds";
  return format === "rfc3339" ? "is not a time such as 2026-01-31T12:00:00Z" : `is not a number of ${format}`;
}

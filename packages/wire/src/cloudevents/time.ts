// RFC 3339 times, which differ slightly from what `Date` accepts.

const RFC_3339 =
  /^\d{4}-\d\d-\d\d[Tt](?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;
const LEAP_SECOND = /:60(?=[.Zz+-])/;

export function isTime(time: unknown): boolean {
  if (typeof time !== "string" || !RFC_3339.test(time) || !isDay(time)) return false;
  return !LEAP_SECOND.test(time) || endsDay(time);
}

/** Expects a valid time. A leap second becomes the next second, and letters become upper case, because `Date` may reject both. */
export function instantOf(time: string): number {
  const leaps = LEAP_SECOND.test(time) ? 1_000 : 0;
  return Date.parse(time.toUpperCase().replace(LEAP_SECOND, ":59")) + leaps;
}

/** RFC 3339 §5.7: a 61st second is valid only in the last minute of a UTC day. */
function endsDay(time: string): boolean {
  return new Date(instantOf(time) - 1_000).toISOString().slice(11, 16) === "23:59";
}

/** `Date` accepts 30 February as 2 March, and years before 100 as 19xx. */
function isDay(time: string): boolean {
  const [year, month, day] = time.slice(0, 10).split("-").map(Number) as [number, number, number];
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

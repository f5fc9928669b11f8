// Times as RFC 3339 has them, which is a little more and a little less than `Date` reads.

const RFC_3339 =
  /^\d{4}-\d\d-\d\d[Tt](?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;
const LEAP_SECOND = /:60(?=[.Zz+-])/;

export function isTime(time: unknown): boolean {
  if (typeof time !== "string" || !RFC_3339.test(time) || !isDay(time)) return false;
  return !LEAP_SECOND.test(time) || endsDay(time);
}

/** Of a time that is one. A leap second is the one after it: `Date` knows none, and reads no small letters for sure. */
export function instantOf(time: string): number {
  const leaps = LEAP_SECOND.test(time) ? 1_000 : 0;
  return Date.parse(time.toUpperCase().replace(LEAP_SECOND, ":59")) + leaps;
}

/** RFC 3339 §5.7: in UTC there is a 61st second in the last minute of a day only. */
function endsDay(time: string): boolean {
  return new Date(instantOf(time) - 1_000).toISOString().slice(11, 16) === "23:59";
}

/** `Date` takes 30 February for 2 March, and the years before 100 for those of the last century. */
function isDay(time: string): boolean {
  const [year, month, day] = time.slice(0, 10).split("-").map(Number) as [number, number, number];
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

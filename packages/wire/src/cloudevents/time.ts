// Times as RFC 3339 has them, which is a little more and a little less than `Date` reads.

const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;

export function isTime(time: unknown): boolean {
  return typeof time === "string" && RFC_3339.test(time) && isDay(time) && !Number.isNaN(instantOf(time));
}

/** Of a time that is one. A leap second is the one after it: `Date` knows none. */
export function instantOf(time: string): number {
  const leaps = /:60(?=[.Zz+-])/.test(time) ? 1_000 : 0;
  return Date.parse(time.replace(/:60(?=[.Zz+-])/, ":59")) + leaps;
}

/** `Date` takes 30 February for 2 March. */
function isDay(time: string): boolean {
  const [year, month, day] = time.slice(0, 10).split("-").map(Number) as [number, number, number];
  return new Date(Date.UTC(year, month - 1, day)).getUTCDate() === day;
}

// The Retry-After header (RFC 9110 §10.2.3), read strictly: a receiver may put anything there.

/** Milliseconds from `now`; undefined for what is neither whole seconds nor an HTTP date. A past date is 0. */
export function parseRetryAfter(value: string | null, now: number): number | undefined {
  if (value === null) return undefined;
  const text = value.trim();
  // Twelve digits: beyond that it is not a wish but a number to break arithmetic with. `nextDelayMs` caps the rest.
  if (/^\d{1,12}$/.test(text)) return Number(text) * 1_000;
  if (!IMF_FIXDATE.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

// Sun, 06 Nov 1994 08:49:37 GMT: the one form that servers must send. Date.parse alone would take "5 apples".
const IMF_FIXDATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

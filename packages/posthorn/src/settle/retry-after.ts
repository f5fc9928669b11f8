// Strict parser of the Retry-After header (RFC 9110 §10.2.3), which a receiver may fill with anything.

/** Returns milliseconds from `now`, 0 for a past date, and undefined for anything but whole seconds or an HTTP date. */
export function parseRetryAfter(value: string | null, now: number): number | undefined {
  if (value === null) return undefined;
  const text = value.trim();
  // At most twelve digits, so that arithmetic stays exact. `nextDelayMs` limits the rest.
  if (/^\d{1,12}$/.test(text)) return Number(text) * 1_000;
  if (!IMF_FIXDATE.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

// Sun, 06 Nov 1994 08:49:37 GMT is the only form that servers must send. Date.parse alone would accept "5 apples".
const IMF_FIXDATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

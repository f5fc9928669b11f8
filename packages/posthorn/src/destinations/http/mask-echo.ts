// Receivers say back what they got, in pages about errors above all. What they answer is kept and shown, so tokens are taken
// out of it before.
import type { AttemptOutcome, PreparedRequest } from "../../model.ts";

/** Of a shorter one nothing could be told from words that happen to hold it. */
const SHORTEST = 6;

export function maskEcho(
  outcome: AttemptOutcome,
  { confidential }: PreparedRequest,
  mask: string,
): AttemptOutcome {
  if (confidential === undefined || outcome.kind !== "answered") return outcome;
  // byte for byte, whatever the charset: tokens are ASCII
  const body = Buffer.from(outcome.responseBody).toString("latin1");
  const hidden = confidential
    .filter(({ length }) => length >= SHORTEST)
    .flatMap(spellingsOf)
    .reduce((text, token) => without(text, token, mask), body);
  if (hidden === body) return outcome;
  return { ...outcome, responseBody: Buffer.from(hidden, "latin1").subarray(0, body.length) };
}

/** As it is, in a URL, and in JSON: as most write it, as PHP does, and as Gson does. */
function spellingsOf(token: string): string[] {
  const json = JSON.stringify(token).slice(1, -1);
  const inGson = json.replace(/[=<>&']/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`);
  return [...new Set([token, encodeURIComponent(token), json, json.replaceAll("/", "\\/"), inGson])];
}

/** Only the beginning of an answer is kept, and a token may be cut there. */
function without(text: string, token: string, mask: string): string {
  const whole = text.replaceAll(token, mask);
  for (let length = token.length - 1; length >= SHORTEST; length -= 1) {
    if (whole.endsWith(token.slice(0, length))) return whole.slice(0, -length) + mask;
  }
  return whole;
}

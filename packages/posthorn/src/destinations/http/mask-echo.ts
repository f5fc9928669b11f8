// Masks tokens that a receiver repeats in its response, for instance in an error page, because responses are stored
// and shown.
import type { AttemptOutcome, PreparedRequest } from "../../model.ts";

/** A shorter token could be part of ordinary words. */
const SHORTEST = 6;

export function maskEcho(
  outcome: AttemptOutcome,
  { confidential }: PreparedRequest,
  mask: string,
): AttemptOutcome {
  if (confidential === undefined || outcome.kind !== "responded") return outcome;
  // bytewise, regardless of the charset: tokens are ASCII
  const body = Buffer.from(outcome.responseBody).toString("latin1");
  const masked = confidential
    .filter(({ length }) => length >= SHORTEST)
    .flatMap(spellingsOf)
    .reduce((text, token) => without(text, token, mask), body);
  if (masked === body) return outcome;
  return { ...outcome, responseBody: Buffer.from(masked, "latin1").subarray(0, body.length) };
}

/** Returns the token as it is, in a URL, and in JSON as most libraries, PHP and Gson write it. */
function spellingsOf(token: string): string[] {
  const json = JSON.stringify(token).slice(1, -1);
  const inGson = json.replace(/[=<>&']/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`);
  return [...new Set([token, encodeURIComponent(token), json, json.replaceAll("/", "\\/"), inGson])];
}

/** Only the beginning of a response is kept, which may cut a token. */
function without(text: string, token: string, mask: string): string {
  const whole = text.replaceAll(token, mask);
  for (let length = token.length - 1; length >= SHORTEST; length -= 1) {
    if (whole.endsWith(token.slice(0, length))) return whole.slice(0, -length) + mask;
  }
  return whole;
}

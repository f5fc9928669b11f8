// Tries every scheme whose header is there, and says of each what holds or what does not.
import {
  findScheme,
  headerNames,
  schemes,
  type VerifyFailure,
  verify,
  verifyingKeyBytes,
} from "@posthorn/wire";
import { usage } from "../failure.ts";
import type { RawRequest } from "./raw-request.ts";

export interface Finding {
  readonly scheme: string;
  readonly ok: boolean;
  /** Null when it holds. */
  readonly reason: VerifyFailure | null;
  readonly message: string;
}

export interface Terms {
  readonly secrets: readonly string[];
  readonly headerPrefix: string;
  readonly toleranceSeconds: number;
  readonly now: Date;
}

export async function examine(request: RawRequest, terms: Terms): Promise<Finding[]> {
  const candidates = Object.keys(schemes).filter((name) => isCandidate(name, request, terms));
  if (candidates.length === 0) throw nothingToVerify(request, terms);
  const findings: Finding[] = [];
  for (const scheme of candidates) findings.push(await tryScheme(scheme, request, terms));
  // Several schemes read the same header; of those only one was used, and it is the one to speak of.
  const valid = findings.filter(({ ok }) => ok);
  if (valid.length > 0) return valid;
  const telling = findings.filter(({ reason }) => reason !== "header_missing" && reason !== "malformed");
  return telling.length > 0 ? telling : findings;
}

/** Its signature header is there, and a secret that it can use. */
function isCandidate(name: string, { headers }: RawRequest, { secrets, headerPrefix }: Terms): boolean {
  const scheme = findScheme(name);
  if (scheme === undefined) return false;
  const header = scheme.headers.signature(headerNames(headerPrefix)).toLowerCase();
  return (
    headers[header] !== undefined && secrets.some((secret) => verifyingKeyBytes(scheme.key, secret) !== null)
  );
}

async function tryScheme(scheme: string, { headers, body }: RawRequest, terms: Terms): Promise<Finding> {
  const result = await verify({ scheme, headers, body, ...terms });
  if (result.ok) return { scheme, ok: true, reason: null, message: "signed with the secret given, just now" };
  const { reason } = result;
  const message =
    reason === "no_match" ? await whyNoMatch(scheme, { headers, body }, terms) : MESSAGES[reason];
  return { scheme, ok: false, reason, message };
}

const MESSAGES: Readonly<Record<Exclude<VerifyFailure, "no_match">, string>> = {
  header_missing:
    "a header that it needs is missing. A proxy may drop it: compare with what `posthorn deliveries get` says was sent",
  malformed: "the signature header is not written as this scheme writes it",
  too_old:
    "the secret is right and the body untouched, but the timestamp is older than allowed: a request that is sent again, or a clock that is wrong here",
  too_new:
    "the secret is right and the body untouched, but the timestamp lies in the future: a clock is wrong here or at the sender",
};

/** A body changed in a usual way would match when the change is undone; if none does, the secret is another. */
async function whyNoMatch(scheme: string, { headers, body }: RawRequest, terms: Terms): Promise<string> {
  const timeless = { ...terms, toleranceSeconds: Number.POSITIVE_INFINITY };
  for (const [change, undone] of usualChanges(body)) {
    if ((await verify({ scheme, headers, body: undone, ...timeless })).ok) {
      return `the secret is right, but the body was changed on the way: ${change}`;
    }
  }
  return "no secret given has signed these bytes. Either the secret is another endpoint's or was rotated, or the body was changed; sign the raw bytes, before any JSON parser touches them";
}

function* usualChanges(body: Uint8Array): Generator<[change: string, undone: Uint8Array]> {
  const text = Buffer.from(body).toString("utf8");
  const bytes = (changed: string): Uint8Array => Buffer.from(changed, "utf8");
  if (/\r?\n$/.test(text)) yield ["a line end was added", bytes(text.replace(/\r?\n$/, ""))];
  if (text.includes("\r\n")) yield ["line ends became CRLF", bytes(text.replaceAll("\r\n", "\n"))];
  if (text.startsWith("\u{feff}")) yield ["a byte order mark was added", bytes(text.slice(1))];
  yield ["its last line end is missing", bytes(`${text}\n`)];
  try {
    yield [
      "the JSON was parsed and written again with other spaces",
      bytes(JSON.stringify(JSON.parse(text))),
    ];
  } catch {
    // no JSON: then it was not rewritten as JSON
  }
}

function nothingToVerify({ headers }: RawRequest, { headerPrefix }: Terms): Error {
  const names = [headerNames(headerPrefix).signature, "webhook-signature"];
  const found = names.filter((name) => headers[name.toLowerCase()] !== undefined);
  if (found.length > 0) {
    return usage(
      `${found.join(" and ")} is there, but no secret given fits its scheme. A whpk_… verifies only v1a, a whsec_… only the others.`,
    );
  }
  const other = Object.keys(headers).find((name) => name.endsWith("-signature"));
  const hint =
    other === undefined
      ? "Was the whole request given?"
      : `There is ${other}; give --header-prefix ${other.slice(0, -"-signature".length)}.`;
  return usage(`There is no ${names.join(" and no ")} header. ${hint}`);
}

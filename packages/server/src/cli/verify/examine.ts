// Tries every scheme whose header is there, and says of each what holds or what does not.
import {
  explainRefusal,
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
  const input = { scheme, headers, body, ...terms };
  const result = await verify(input);
  if (result.ok) return { scheme, ok: true, reason: null, message: "signed with the secret given, just now" };
  const { reason, hint } = await explainRefusal(input, result, "thorough");
  return { scheme, ok: false, reason, message: hint };
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

// Finds the source of a request and verifies its signature. No step before this one may touch the store.

import type { VerifiedRequest, WebhookRequest, WebhookResponse } from "../model.ts";
import { unauthorized } from "../respond.ts";
import type { Authentication, AuthenticationOptions, RawRequest, Source } from "../source.ts";
import { Rejection } from "./rejection.ts";

/** Rejects a request without the signature header of any source, before its body is read. */
export function rejectUnsigned({ headers }: WebhookRequest, sources: readonly Source[]): Rejection | null {
  if (sources.some((source) => source.matches(headers))) return null;
  const names = sources.map(({ name }) => name).join(", ");
  return new Rejection(unauthorized, "header_missing", `There is no signature header of ${names}.`);
}

/** Verifies a request that has the signature header of at least one source. */
export async function authenticate(
  request: RawRequest,
  sources: readonly Source[],
  options: AuthenticationOptions,
): Promise<{ request: VerifiedRequest; source: Source } | WebhookResponse | Rejection> {
  const failures: { readonly source: Source; readonly failure: AuthenticationFailure }[] = [];
  for (const source of sources) {
    if (!source.matches(request.headers)) continue;
    const result = await source.authenticate(request, options);
    if (result.ok && result.answer !== undefined) return result.answer;
    if (result.ok) {
      const { headers, body } = request;
      return { request: { source: source.name, signedId: result.signedId, headers, body }, source };
    }
    failures.push({ source, failure: result });
  }
  // A valid signature with a wrong timestamp is more specific than the mismatches of other sources.
  const mostSpecific = failures.find(({ failure }) => WRONG_TIME.has(failure.reason)) ?? failures[0];
  const { source, failure } = mostSpecific as (typeof failures)[0];
  const { reason, hint } = (await failure.explain?.()) ?? { reason: failure.reason, hint: failure.reason };
  return new Rejection(unauthorized, reason, `${hint.charAt(0).toUpperCase()}${hint.slice(1)}.`, source.name);
}

type AuthenticationFailure = Extract<Authentication, { ok: false }>;

const WRONG_TIME: ReadonlySet<string> = new Set(["too_old", "too_new"]);

// Which source a request is from, proven by its signature. Nothing before this may touch the store.

import type { Authentic, WebhookRequest, WebhookResponse } from "../model.ts";
import { unauthorized } from "../respond.ts";
import type { Authentication, AuthenticationOptions, RawRequest, Source } from "../source.ts";
import { Rejection } from "./rejection.ts";

/** Null when the signature header of a source is there: the rest is worth reading. */
export function rejectUnsigned({ headers }: WebhookRequest, sources: readonly Source[]): Rejection | null {
  if (sources.some((source) => source.matches(headers))) return null;
  const names = sources.map(({ name }) => name).join(", ");
  return new Rejection(unauthorized, "header_missing", `No signature header of ${names}.`);
}

/** Of a request that addresses one of the sources. */
export async function authenticate(
  request: RawRequest,
  sources: readonly Source[],
  terms: AuthenticationOptions,
): Promise<Authenticated | WebhookResponse | Rejection> {
  const refusals: { readonly source: Source; readonly refusal: Refusal }[] = [];
  for (const source of sources) {
    if (!source.matches(request.headers)) continue;
    const result = await source.authenticate(request, terms);
    if (result.ok && result.answer !== undefined) return result.answer;
    if (result.ok) {
      const { headers, body } = request;
      return { authentic: { source: source.name, signedId: result.signedId, headers, body }, source };
    }
    refusals.push({ source, refusal: result });
  }
  // A signature that holds but is not timely says more than those of other senders that do not hold.
  const telling = refusals.find(({ refusal }) => UNTIMELY.has(refusal.reason)) ?? refusals[0];
  const { source, refusal } = telling as (typeof refusals)[0];
  const { reason, hint } = (await refusal.explain?.()) ?? { reason: refusal.reason, hint: refusal.reason };
  return new Rejection(unauthorized, reason, `${hint.charAt(0).toUpperCase()}${hint.slice(1)}.`, source.name);
}

export interface Authenticated {
  readonly authentic: Authentic;
  readonly source: Source;
}

type Refusal = Extract<Authentication, { ok: false }>;

const UNTIMELY: ReadonlySet<string> = new Set(["too_old", "too_new"]);

// Reports whether an endpoint would receive an event, without publishing one.
import { refuseUnknown } from "../../did-you-mean.ts";
import { allMessages, throwProblems } from "../../errors.ts";
import { validate } from "../../event/validate.ts";
import { readFacts } from "../../fan-out/filter.ts";
import { parseFilter } from "../../fan-out/parse-filter.ts";
import { type Mismatch, mismatchOf } from "../../fan-out/why-not.ts";
import type { FilterInput } from "../../model.ts";
import type { Endpoint } from "./endpoints.ts";
import { readableFilter } from "./targets.ts";

export interface MatchInput {
  readonly type: string;
  readonly data: unknown;
  readonly subject?: string | null | undefined;
  /** Replaces the endpoint's filter; null: no filter. */
  readonly filter?: FilterInput | null | undefined;
}

export type MatchResult =
  | { readonly matches: true; readonly reason: null; readonly detail: null; readonly pointer: null }
  | ({ readonly matches: false } & Mismatch);

export function matchEndpoint(endpoint: Endpoint, input: MatchInput): MatchResult {
  refuseUnknown("A match has no", input, ["type", "data", "subject", "filter"], "invalid_event");
  const { filter: tried, subject, ...rest } = input;
  const { event } = validate({ ...rest, subject: subject ?? undefined, tenant: endpoint.tenant }, 0);
  if (tried !== undefined) checkFilter(tried);
  const filter = readableFilter(tried === undefined ? endpoint.filter : tried);
  const mismatch = mismatchOf({ events: endpoint.events, filter }, { type: event.type, ...readFacts(event) });
  if (mismatch !== null) return { matches: false, ...mismatch };
  return { matches: true, reason: null, detail: null, pointer: null };
}

function checkFilter(filter: unknown): void {
  const parsed = filter === null ? null : parseFilter(filter);
  if (parsed === null || parsed.ok) return;
  const problems = parsed.problems.map(({ pointer, message }) => ({ pointer: `/filter${pointer}`, message }));
  throwProblems("invalid_endpoint", problems, allMessages);
}

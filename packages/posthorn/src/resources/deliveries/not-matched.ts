// The endpoints of a tenant that have no delivery of an event, each with the reason, as far as the settings of now tell.
import { formatId } from "@posthorn/wire";
import { redactData } from "../../catalogue/redact.ts";
import { type FilterFacts, HIDDEN, looksAtHidden, readFacts } from "../../fan-out/filter.ts";
import { isAbout, matches } from "../../fan-out/matches.ts";
import { mismatchOf } from "../../fan-out/why-not.ts";
import { BATCH_TYPE, type Event, type Uuid } from "../../model.ts";
import type { EventEndpointRow } from "../../storage/queries/endpoints/of-event.ts";
import { readableFilter } from "../endpoints/targets.ts";

export type NotMatchedReason =
  | "type"
  | "filter"
  | "filter_hidden"
  | "created_later"
  | "deleted"
  | "test"
  | "batch"
  | "about_itself"
  | "waiting"
  | "tenant_inactive"
  | "lease_ended"
  | "matches_now";

export interface NotMatched {
  readonly endpointId: string;
  readonly reason: NotMatchedReason;
  /** A sentence; nothing of the event's data is in it. */
  readonly detail: string;
  /** Of the reason `filter`: to the first condition that does not hold. */
  readonly pointer: string | null;
  /** It was changed after the event, and the reason is about its settings of now. */
  readonly settingsChanged: boolean;
}

/** `hiddenPaths` is what whoever asks may not see of the event: no reason tells anything of it. */
export function notMatched(
  event: Event,
  endpoints: readonly EventEndpointRow[],
  deliveredTo: ReadonlySet<Uuid>,
  hiddenPaths: readonly string[],
): NotMatched[] {
  const eventMs = event.createdAt.getTime();
  const facts = memo(() => factsBeside(hiddenPaths, event));
  return endpoints
    .filter(({ id, deletedMs }) => !deliveredTo.has(id) && (deletedMs === null || deletedMs >= eventMs))
    .map((endpoint) => ({
      endpointId: formatId("ep", endpoint.id),
      ...whyNot(event, endpoint, facts),
      settingsChanged: endpoint.updatedMs > eventMs && endpoint.createdMs <= eventMs,
    }));
}

function factsBeside(hiddenPaths: readonly string[], event: Event): FilterFacts {
  const { data, subject } = readFacts(event);
  return { data: redactData(data, hiddenPaths, HIDDEN), subject };
}

type Why = Pick<NotMatched, "reason" | "detail" | "pointer">;

/** The first that applies. */
function whyNot(event: Event, endpoint: EventEndpointRow, facts: () => FilterFacts): Why {
  if (endpoint.deletedMs !== null) return why("deleted");
  if (endpoint.eventIsTest) return why("test");
  if (event.type === BATCH_TYPE) return why("batch");
  if (isAbout(event, endpoint.id)) return why("about_itself");
  if (endpoint.createdMs > event.createdAt.getTime()) return why("created_later");
  if (endpoint.leaseEndsMs !== null && endpoint.leaseEndsMs <= event.createdAt.getTime())
    return why("lease_ended");
  const { events } = endpoint;
  const filter = readableFilter(endpoint.filter);
  const isFiltered = filter !== null && matches(events, event.type);
  if (isFiltered && looksAtHidden(filter, facts())) return why("filter_hidden");
  const mismatch = mismatchOf({ events, filter }, { type: event.type, ...facts() });
  if (mismatch !== null) return mismatch;
  if (endpoint.eventWaits) return why("waiting");
  return why(endpoint.tenantIsActive ? "matches_now" : "tenant_inactive");
}

const DETAILS = {
  deleted: "It has been deleted since.",
  test: "A test event is for one endpoint alone.",
  batch: "A batch is for the endpoint that its events were collected for.",
  about_itself: "An endpoint is not told about itself.",
  lease_ended: "Its WebSub subscription had ended.",
  created_later: "It was made after the event.",
  filter_hidden: "Its filter looks at redacted data, so what came of it is not shown.",
  waiting: "The event is stored, and its deliveries are about to be made.",
  tenant_inactive: "The tenant is inactive, and gets nothing.",
  matches_now:
    "By its settings of now it would get the event. It was changed since, the tenant was inactive then, the delivery is older than the retention, or somebody deleted its dead letter.",
} as const satisfies Partial<Record<NotMatchedReason, string>>;

function why(reason: keyof typeof DETAILS): Why {
  return { reason, detail: DETAILS[reason], pointer: null };
}

function memo<Value>(make: () => Value): () => Value {
  let value: Value | undefined;
  return () => {
    value ??= make();
    return value;
  };
}

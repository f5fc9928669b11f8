// Explains why endpoints of a tenant have no delivery of an event, according to their current settings.
import { formatId } from "@posthorn/wire";
import { redactData } from "../../catalogue/redact.ts";
import { type FilterFacts, REDACTED_VALUE, readFacts, readsRedacted } from "../../fan-out/filter.ts";
import { isAbout, matches } from "../../fan-out/matches.ts";
import { mismatchOf } from "../../fan-out/why-not.ts";
import { BATCH_TYPE, type Event, type Uuid } from "../../model.ts";
import type { EventEndpointRow } from "../../storage/queries/endpoints/read.ts";
import { readableFilter } from "../endpoints/targets.ts";

export type NotMatchedReason =
  | "type"
  | "filter"
  | "filter_redacted"
  | "created_later"
  | "deleted"
  | "test"
  | "batch"
  | "about_itself"
  | "waiting"
  | "rejected"
  | "tenant_inactive"
  | "lease_expired"
  | "dropped"
  | "matches_now";

export interface NotMatched {
  readonly endpointId: string;
  readonly reason: NotMatchedReason;
  /** A sentence without any of the event's data. */
  readonly detail: string;
  /** For the reason `filter`: a JSON Pointer to the first condition that does not hold. */
  readonly pointer: string | null;
  /** The endpoint was changed after the event, so the reason may not have applied then. */
  readonly settingsChanged: boolean;
}

/** No reason reveals data at `redactedPaths`. */
export function notMatched(
  event: Event,
  endpoints: readonly EventEndpointRow[],
  deliveredTo: ReadonlySet<Uuid>,
  redactedPaths: readonly string[],
): NotMatched[] {
  const eventMs = event.createdAt.getTime();
  const { data, subject } = readFacts(event);
  const facts = { data: redactData(data, redactedPaths, REDACTED_VALUE), subject };
  return endpoints
    .filter(({ id, deletedMs }) => !deliveredTo.has(id) && (deletedMs === null || deletedMs >= eventMs))
    .map((endpoint) => ({
      endpointId: formatId("ep", endpoint.id),
      ...whyNot(event, endpoint, facts),
      settingsChanged: endpoint.updatedMs > eventMs && Math.floor(endpoint.createdMs) <= eventMs,
    }));
}

type Why = Pick<NotMatched, "reason" | "detail" | "pointer">;

/** Returns the first reason that applies. */
function whyNot(event: Event, endpoint: EventEndpointRow, facts: FilterFacts): Why {
  if (endpoint.eventIsRejected) return why("rejected");
  if (endpoint.deletedMs !== null) return why("deleted");
  if (endpoint.eventIsTest) return why("test");
  if (event.type === BATCH_TYPE) return why("batch");
  if (isAbout(event, endpoint.id)) return why("about_itself");
  if (Math.floor(endpoint.createdMs) > event.createdAt.getTime()) return why("created_later");
  if (endpoint.leaseEndsMs !== null && endpoint.leaseEndsMs <= event.createdAt.getTime())
    return why("lease_expired");
  const { events } = endpoint;
  const filter = readableFilter(endpoint.filter);
  const isFiltered = filter !== null && matches(events, event.type);
  if (isFiltered && readsRedacted(filter, facts)) return why("filter_redacted");
  const mismatch = mismatchOf({ events, filter }, { type: event.type, ...facts });
  if (mismatch !== null) return mismatch;
  if (endpoint.eventWaits) return why("waiting");
  if (!endpoint.tenantIsActive) return why("tenant_inactive");
  return why(endpoint.eventWasDropped ? "dropped" : "matches_now");
}

const DETAILS = {
  deleted: "It was deleted after the event.",
  test: "A test event is sent to one endpoint only.",
  batch: "A batch is sent only to the endpoint that its events were collected for.",
  about_itself: "An endpoint does not receive events about itself.",
  lease_expired: "Its subscription had expired.",
  created_later: "It was created after the event.",
  filter_redacted: "Its filter uses redacted data, so its result is not shown.",
  rejected: "The catalogue rejected the event, so nothing receives it until it is released.",
  waiting: "The event is stored; its deliveries have not been created yet.",
  tenant_inactive: "The tenant is inactive and receives nothing.",
  dropped:
    "Delivery was off and dropped events when it was published. Replay missed events to deliver it (resubscribe).",
  matches_now:
    "It matches the event with its current settings. It was changed after the event, the tenant was inactive then, the delivery is older than the retention, or its dead letter was deleted.",
} as const satisfies Partial<Record<NotMatchedReason, string>>;

function why(reason: keyof typeof DETAILS): Why {
  return { reason, detail: DETAILS[reason], pointer: null };
}

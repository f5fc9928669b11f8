// Events as people see them, and what became of each.
import { setImmediate } from "node:timers/promises";
import { type EventAttributes, formatId, parseId, uuidTimeMs } from "@posthorn/wire";
import type { Catalogue } from "../../catalogue/catalogue.ts";
import { hiddenPathsOf } from "../../catalogue/hidden-paths.ts";
import { redactEvent, redactPayload } from "../../catalogue/redact.ts";
import { refuseUnknown } from "../../did-you-mean.ts";
import { PosthornError } from "../../errors.ts";
import { deliveryIdOf } from "../../fan-out/delivery-id.ts";
import type { Content } from "../../formats/format.ts";
import { bareData } from "../../formats/plain.ts";
import type { Event, Uuid } from "../../model.ts";
import type { Queryable } from "../../storage/database.ts";
import { type BatchOfEvent, batchesOfEvent } from "../../storage/queries/batches/read.ts";
import { findDeliveries } from "../../storage/queries/deliveries/find.ts";
import { endpointsOfEvent } from "../../storage/queries/endpoints/of-event.ts";
import { findEvent, listEvents } from "../../storage/queries/events/list.ts";
import { newestEvents } from "../../storage/queries/events/newest.ts";
import { MAX_PAGE_BYTES } from "../../storage/queries/page-bytes.ts";
import { type DeliveryView, deliveryViews } from "../deliveries/deliveries.ts";
import { type NotMatched, notMatched } from "../deliveries/not-matched.ts";
import { HIGHEST_UUID, LOWEST_UUID, type Page, type PageQuery, QueryReader, toPage } from "../page.ts";

export interface EventView {
  readonly id: string;
  readonly tenant: string;
  readonly type: string;
  readonly apiVersion: string;
  readonly subject: string | null;
  readonly sequence: number | null;
  /** The JSON of `data`, byte for byte as it was given. */
  readonly payload: Buffer;
  readonly createdAt: Date;
  /** Of one that was not published our way: what it brought, and how `payload` is to be read. */
  readonly attributes: EventAttributes | null;
}

/** Where an endpoint takes batches: the one that the event went in. */
export interface BatchView {
  readonly endpointId: string;
  /** The event that the batch is; null while this one waits for it. */
  readonly eventId: string | null;
  readonly deliveryId: string | null;
}

export interface EventDetail extends EventView {
  /** Those of its batches too. */
  readonly deliveries: readonly DeliveryView[];
  readonly batches: readonly BatchView[];
  /** The tenant's endpoints that have no delivery of it, and why. */
  readonly notMatched: readonly NotMatched[];
  /** The one before it in its subject; null without one, or when it is too far back to be looked for. */
  readonly previous: string | null;
}

export interface EventQuery extends PageQuery {
  readonly tenant?: string | undefined;
  readonly type?: string | undefined;
  readonly subject?: string | undefined;
  /** From this time on. */
  readonly createdAfter?: Date | undefined;
  /** Up to, not including, this time. */
  readonly createdBefore?: Date | undefined;
  /** What the catalogue hides is masked in `payload`, as for people without `payloads:read`. Default false. */
  readonly redacted?: boolean | undefined;
}

/** Without its payload. */
export interface NewestEventView extends Omit<EventView, "payload" | "attributes"> {
  /** False for a moment after it was published in a transaction, or behind another of its subject. */
  readonly hasDeliveriesMade: boolean;
}

export interface Events {
  /** Newest first. */
  list(query?: EventQuery): Promise<Page<EventView>>;
  /** Newest first: what those ask for who follow along. */
  newest(query?: {
    readonly tenant?: string | undefined;
    readonly limit?: number | undefined;
  }): Promise<readonly NewestEventView[]>;
  /** With a tenant given, another tenant's event is not found. */
  get(id: string, scope?: EventScope): Promise<EventDetail>;
  /** Its data by itself, as an endpoint of the format `data` gets it. */
  data(id: string, scope?: EventScope): Promise<Content>;
}

export interface EventScope {
  readonly tenant?: string | undefined;
  readonly redacted?: boolean | undefined;
}

export interface EventsOptions {
  readonly db: Queryable;
  readonly catalogue: Pick<Catalogue, "refresh" | "redactedPaths">;
}

export function createEvents({ db, catalogue }: EventsOptions): Events {
  return { list, newest, get, data };

  async function list(query: EventQuery = {}): Promise<Page<EventView>> {
    const reader = new QueryReader();
    const limit = reader.limit(query);
    const range = reader.idRange("events", query);
    const tenant = reader.text("tenant", query.tenant);
    const type = reader.text("type", query.type);
    const subject = reader.text("subject", query.subject);
    reader.finish(FILTERS, query);
    const filter = { ...range, limit: limit + 1, tenant, type, subject };
    const { events, examinedUpTo } = await listEvents(db, filter);
    const hidden = await hiddenPaths(query.redacted);
    const rows = await shownRows(events, hidden);
    const end = rows.length < events.length ? (rows.at(-1)?.id ?? null) : examinedUpTo;
    return toPage(
      "events",
      rows,
      limit,
      ({ view }) => view,
      ({ id }) => id,
      end,
    );
  }

  async function newest(
    query: { readonly tenant?: string | undefined; readonly limit?: number | undefined } = {},
  ): Promise<readonly NewestEventView[]> {
    const reader = new QueryReader();
    const limit = reader.limit(query);
    const tenant = reader.text("tenant", query.tenant);
    reader.finish(["tenant", "limit"], query);
    const rows = await newestEvents(db, { notBefore: LOWEST_UUID, before: HIGHEST_UUID, limit }, tenant);
    return rows.map(({ id, isInOutbox, ...event }) => ({
      ...event,
      id: formatId("evt", id),
      createdAt: new Date(uuidTimeMs(id)),
      hasDeliveriesMade: !isInOutbox,
    }));
  }

  async function get(id: string, scope: EventScope = {}): Promise<EventDetail> {
    const { event, hidden } = await found(id, scope);
    const previous = await previousOf(event);
    return { ...toEventView(event, hidden), ...(await becameOf(event, hidden)), previous };
  }

  async function data(id: string, scope: EventScope = {}): Promise<Content> {
    const { event, hidden } = await found(id, scope);
    return bareData(redactEvent(event, hidden));
  }

  async function found(
    id: string,
    scope: EventScope,
  ): Promise<{ readonly event: Event; readonly hidden: readonly string[] }> {
    refuseUnknown("There is no scope", scope, ["tenant", "redacted"], "invalid_query");
    const { tenant, redacted } = scope;
    const uuid = parseId("evt", String(id));
    const event =
      uuid === null ? null : await findEvent(db, uuid, tenant === undefined ? null : String(tenant));
    if (event === null) throw notFound(uuid);
    return { event, hidden: (await hiddenPaths(redacted))(event) };
  }

  /** Along the tenant's index, so many events back: none knows subjects. Ids are not quite in the order of sequences. */
  async function previousOf({ id, tenant, subject, sequence }: Event): Promise<string | null> {
    if (subject === null || sequence === null || sequence === 1) return null;
    const before = { notBefore: LOWEST_UUID, before: id, limit: NEAR, tenant, type: null, subject };
    const { events } = await listEvents(db, before);
    const numbered = events.filter((event) => event.sequence !== null && event.sequence < sequence);
    const [previous] = numbered.sort((a, b) => (b.sequence ?? 0) - (a.sequence ?? 0));
    return previous === undefined ? null : formatId("evt", previous.id);
  }

  /** By what the catalogue says now, and not what it said half a second ago. */
  async function hiddenPaths(redacted = false): Promise<(event: Event) => readonly string[]> {
    if (!redacted) return () => [];
    await catalogue.refresh();
    return (event) => hiddenPathsOf(event, (type, version) => catalogue.redactedPaths(type, version));
  }

  /** By primary key, for every endpoint the tenant has or had: nothing indexes deliveries by event. */
  async function becameOf(
    event: Event,
    hidden: readonly string[],
  ): Promise<Pick<EventDetail, "deliveries" | "batches" | "notMatched">> {
    const endpoints = await endpointsOfEvent(db, event.tenant, event.id);
    const batches = await batchesOfEvent(db, event.id);
    const rows = await findDeliveries(db, [
      ...endpoints.map(({ id }) => deliveryIdOf(event.id, id)),
      ...batches.flatMap(({ endpointId, batchId }) =>
        batchId === null ? [] : deliveryIdOf(batchId, endpointId),
      ),
    ]);
    const deliveredTo = new Set([...rows, ...batches].map(({ endpointId }) => endpointId));
    return {
      deliveries: rows.map(await deliveryViews(db, rows)),
      batches: batches.map(toBatchView),
      notMatched: notMatched(event, endpoints, deliveredTo, hidden),
    };
  }
}

function toBatchView({ endpointId, batchId }: BatchOfEvent): BatchView {
  return {
    endpointId: formatId("ep", endpointId),
    eventId: batchId === null ? null : formatId("evt", batchId),
    deliveryId: batchId === null ? null : formatId("dlv", deliveryIdOf(batchId, endpointId)),
  };
}

/** Events of a subject that are looked at for the one before: those published in the same moment may be out of order. */
const NEAR = 3;

const FILTERS = ["tenant", "type", "subject", "createdAfter", "createdBefore", "redacted", "limit", "cursor"];

const TURN_MS = 20;

/** Masks can be longer than what they hide, so a page ends by its bytes here too; others have their turn meanwhile. */
async function shownRows(events: readonly Event[], hidden: (event: Event) => readonly string[]) {
  const rows: { readonly id: Uuid; readonly view: EventView }[] = [];
  let bytes = 0;
  let turnBegunAt = performance.now();
  for (const event of events) {
    if (bytes >= MAX_PAGE_BYTES) break;
    const view = toEventView(event, hidden(event));
    rows.push({ id: event.id, view });
    bytes += view.payload.length;
    if (performance.now() - turnBegunAt < TURN_MS) continue;
    await setImmediate();
    turnBegunAt = performance.now();
  }
  return rows;
}

function toEventView(event: Event, hidden: readonly string[]): EventView {
  return {
    ...event,
    id: formatId("evt", event.id),
    payload: redactPayload(event.payload, hidden),
    attributes: event.attributes ?? null,
  };
}

function notFound(uuid: Uuid | null): PosthornError {
  const shown = uuid === null ? "with that id; ids look like evt_0198c2f0-…" : formatId("evt", uuid);
  return new PosthornError("event_not_found", `There is no event ${shown}. List events to see their ids.`);
}

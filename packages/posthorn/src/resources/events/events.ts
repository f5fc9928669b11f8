// Lists events, and returns single ones with their deliveries.

import { setImmediate } from "node:timers/promises";
import { type EventAttributes, formatId, parseId, uuidTimeMs } from "@posthorn/wire";
import type { Catalogue } from "../../catalogue/catalogue.ts";
import { redactEvent, redactedPathsOf, redactPayload } from "../../catalogue/redact.ts";
import { refuseUnknown } from "../../did-you-mean.ts";
import { deliveryIdOf } from "../../fan-out/delivery-id.ts";
import type { Content } from "../../formats/format.ts";
import { bareData } from "../../formats/formats.ts";
import type { Event, Rejection, Uuid } from "../../model.ts";
import type { Queryable } from "../../storage/database.ts";
import { type BatchOfEvent, batchesOfEvent } from "../../storage/queries/batches/read.ts";
import { findDeliveries } from "../../storage/queries/deliveries/read.ts";
import { endpointsOfEvent } from "../../storage/queries/endpoints/read.ts";
import { findEvent, listEvents, newestEvents } from "../../storage/queries/events/list.ts";
import { type RejectionRow, rejectionsOf } from "../../storage/queries/events/rejected.ts";
import { MAX_PAGE_BYTES } from "../../storage/queries/page.ts";
import { type DeliveryView, deliveryViews } from "../deliveries/deliveries.ts";
import { type NotMatched, notMatched } from "../deliveries/not-matched.ts";
import { ALWAYS, type IsSending } from "../deliveries/waits.ts";
import {
  dated,
  LOWEST_UUID,
  limit as limitField,
  notFound,
  type Page,
  readFilters,
  readTimedPage,
  type TimeRangeQuery,
  toPage,
} from "../page.ts";
import { oneOf, text, unchecked } from "../read-fields.ts";
import { type EventOutcome, outcomesOf } from "./outcomes.ts";

export interface EventView
  extends Pick<Event, "id" | "tenant" | "type" | "apiVersion" | "subject" | "sequence" | "createdAt"> {
  /** The JSON of `data`, byte for byte as published. */
  readonly payload: Buffer;
  /** The attributes of an event that was published as a CloudEvent, and the encoding of `payload`. */
  readonly attributes: EventAttributes | null;
  /** The event of which this is an edited copy. Null if it is none. */
  readonly editedFrom: string | null;
  /** Why the catalogue rejected it; null for events that it accepted, and after a release. */
  readonly rejection: RejectionView | null;
}

export interface ListedEvent extends EventView {
  /** The outcome of its deliveries. Null for an event with thousands of deliveries, and if it was not requested. */
  readonly outcome: EventOutcome | null;
}

export interface RejectionView extends Omit<Rejection, "eventId"> {
  readonly rejectedAt: Date;
  /** Null until a person discards the event. */
  readonly discardedAt: Date | null;
}

/** The batch of an event, for an endpoint that receives batches. */
export interface BatchView {
  readonly endpointId: string;
  /** The id of the batch, which is an event itself. Null while the event waits for a batch. */
  readonly eventId: string | null;
  readonly deliveryId: string | null;
}

export interface EventDetail extends EventView {
  /** Includes the deliveries of its batches. */
  readonly deliveries: readonly DeliveryView[];
  readonly batches: readonly BatchView[];
  /** The tenant's endpoints without a delivery of the event, and the reasons. */
  readonly notMatched: readonly NotMatched[];
  /** The previous event of the subject. Null if there is none, or if it is too far back. */
  readonly previous: string | null;
}

export interface EventQuery extends TimeRangeQuery {
  readonly tenant?: string | undefined;
  readonly type?: string | undefined;
  readonly subject?: string | undefined;
  /** Only events that the catalogue rejected and nobody has released or discarded. */
  readonly state?: "rejected" | undefined;
  /** Masks redacted paths in `payload`, as for keys without `payloads:read`. Default false. */
  readonly redacted?: boolean | undefined;
  /** False leaves out the outcomes of the events, which are read from their deliveries. Default true. */
  readonly outcomes?: boolean | undefined;
}

/** An event without its payload. */
export interface NewestEventView
  extends Omit<EventView, "payload" | "attributes" | "rejection" | "editedFrom"> {
  /** False while the event waits in the outbox: published in a transaction, or after another event of its subject. */
  readonly isFannedOut: boolean;
}

export interface Events {
  /** Newest first. */
  list(query?: EventQuery): Promise<Page<ListedEvent>>;
  /** Returns the newest events without payloads, newest first. */
  newest(query?: {
    readonly tenant?: string | undefined;
    readonly limit?: number | undefined;
  }): Promise<readonly NewestEventView[]>;
  /** With a tenant given, another tenant's event is not found. */
  get(id: string, scope?: EventScope): Promise<EventDetail>;
  /** Returns only the data, as an endpoint with the format `data` receives it. */
  data(id: string, scope?: EventScope): Promise<Content>;
}

export interface EventScope {
  readonly tenant?: string | undefined;
  readonly redacted?: boolean | undefined;
}

export interface EventsOptions {
  readonly db: Queryable;
  readonly catalogue: Pick<Catalogue, "refresh" | "redactedPaths">;
  /** Default: delivery is on. */
  readonly isSending?: IsSending;
}

export function createEvents({ db, catalogue, isSending = ALWAYS }: EventsOptions): Events {
  return {
    async list(query = {}) {
      const {
        limit,
        redacted,
        outcomes: isCounted,
        state,
        ...filter
      } = readTimedPage("events", query, FILTERS);
      const asked = { ...filter, isRejected: state === "rejected", limit: limit + 1 };
      const { events, examinedUpTo } = await listEvents(db, asked);
      const pathsOf = await redactedPaths(redacted ?? false);
      const rows = await toRows(events, pathsOf, await rejectionsById(events));
      const end = rows.length < events.length ? (rows.at(-1)?.id ?? null) : examinedUpTo;
      const shown = rows.slice(0, limit).map(({ id }) => id);
      const outcomes = isCounted === false ? new Map() : await outcomesOf(db, shown);
      const viewOf = ({ id, view }: (typeof rows)[number]) => ({
        ...view,
        outcome: outcomes.get(id) ?? null,
      });
      return toPage("events", rows, limit, viewOf, (row) => row.id, end);
    },

    async newest(query = {}) {
      const { limit, tenant } = readFilters(query, { limit: limitField, tenant: text() });
      const rows = await newestEvents(db, limit, tenant);
      return rows.map(({ id, isInOutbox, ...event }) => ({
        ...event,
        id: formatId("evt", id),
        createdAt: new Date(uuidTimeMs(id)),
        isFannedOut: !isInOutbox,
      }));
    },

    async get(id, scope = {}) {
      const { event, paths } = await find(id, scope);
      const previous = await previousOf(event);
      const rejections = await rejectionsById([event]);
      return { ...toEventView(event, paths, rejections), ...(await deliveriesOf(event, paths)), previous };
    },

    async data(id, scope = {}) {
      const { event, paths } = await find(id, scope);
      return bareData(redactEvent(event, paths));
    },
  };

  async function rejectionsById(events: readonly Event[]): Promise<ReadonlyMap<Uuid, RejectionRow>> {
    const found =
      events.length === 0
        ? []
        : await rejectionsOf(
            db,
            events.map((event) => event.id),
          );
    return new Map(found.map((rejection) => [rejection.eventId, rejection]));
  }

  async function find(
    id: string,
    scope: EventScope,
  ): Promise<{ readonly event: Event; readonly paths: readonly string[] }> {
    refuseUnknown("There is no scope", scope, ["tenant", "redacted"], "invalid_query");
    const { tenant, redacted } = scope;
    const uuid = parseId("evt", String(id));
    const event =
      uuid === null ? null : await findEvent(db, uuid, tenant === undefined ? null : String(tenant));
    if (event === null) throw notFound("event", "evt", id);
    return { event, paths: (await redactedPaths(redacted))(event) };
  }

  /** Searches back by id, because no index has subjects. Ids are not exactly in the order of sequences. */
  async function previousOf({ id, tenant, subject, sequence }: Event): Promise<string | null> {
    if (subject === null || sequence === null || sequence === 1) return null;
    const before = {
      notBefore: LOWEST_UUID,
      before: id,
      limit: NEAR,
      tenant,
      type: null,
      subject,
      isRejected: false,
    };
    const { events } = await listEvents(db, before);
    const numbered = events.filter((event) => event.sequence !== null && event.sequence < sequence);
    const [previous] = numbered.sort((a, b) => (b.sequence ?? 0) - (a.sequence ?? 0));
    return previous === undefined ? null : formatId("evt", previous.id);
  }

  /** Refreshes the catalogue first, so that a new redaction applies at once. */
  async function redactedPaths(redacted = false): Promise<(event: Event) => readonly string[]> {
    if (!redacted) return () => [];
    await catalogue.refresh();
    return (event) => redactedPathsOf(event, (type, version) => catalogue.redactedPaths(type, version));
  }

  /** Looks up the delivery of every endpoint by primary key, because deliveries have no index on the event. */
  async function deliveriesOf(
    event: Event,
    paths: readonly string[],
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
      deliveries: rows.map(await deliveryViews(db, rows, isSending)),
      batches: batches.map(toBatchView),
      notMatched: notMatched(event, endpoints, deliveredTo, paths),
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

/** How many events to search for the previous one: events published at the same time may have ids out of order. */
const NEAR = 3;

const FILTERS = {
  tenant: text(),
  type: text(),
  subject: text(),
  redacted: unchecked<boolean>(),
  outcomes: unchecked<boolean>(),
  state: oneOf(["rejected"]),
};

const TURN_MS = 20;

/** Limits the bytes of a page again, because masks can be longer than the data, and yields to other work. */
async function toRows(
  events: readonly Event[],
  pathsOf: (event: Event) => readonly string[],
  rejections: ReadonlyMap<Uuid, RejectionRow>,
) {
  const rows: { readonly id: Uuid; readonly view: EventView }[] = [];
  let bytes = 0;
  let turnBegunAt = performance.now();
  for (const event of events) {
    if (bytes >= MAX_PAGE_BYTES) break;
    const view = toEventView(event, pathsOf(event), rejections);
    rows.push({ id: event.id, view });
    bytes += view.payload.length;
    if (performance.now() - turnBegunAt < TURN_MS) continue;
    await setImmediate();
    turnBegunAt = performance.now();
  }
  return rows;
}

function toEventView(
  event: Event,
  paths: readonly string[],
  rejections: ReadonlyMap<Uuid, RejectionRow>,
): EventView {
  const rejection = rejections.get(event.id);
  return {
    ...event,
    id: formatId("evt", event.id),
    payload: redactPayload(event.payload, paths),
    attributes: event.attributes ?? null,
    editedFrom: event.editedFrom === undefined ? null : formatId("evt", event.editedFrom),
    rejection: rejection === undefined ? null : toRejectionView(rejection),
  };
}

function toRejectionView({ eventId: _, ...rejection }: RejectionRow): RejectionView {
  return dated(rejection);
}

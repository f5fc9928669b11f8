// Lists the attempts of an endpoint.
import { formatId, parseId } from "@posthorn/wire";
import type { Queryable } from "../../storage/database.ts";
import {
  type AttemptPlace,
  attemptsOfEndpoint,
  type EndpointAttemptRow,
} from "../../storage/queries/attempts/list.ts";
import { findEndpoint } from "../../storage/queries/endpoints/read.ts";
import { type AttemptView, toAttemptView, withoutResponse } from "../deliveries/attempt-view.ts";
import { HIGHEST_UUID, type Page, type PageQuery, QueryReader, toPage } from "../page.ts";
import { isTenantId } from "../tenants/tenants.ts";
import { endpointNotFound } from "./changes.ts";

export interface EndpointAttempt extends AttemptView {
  readonly deliveryId: string;
  readonly eventId: string;
}

export interface EndpointAttemptQuery extends PageQuery {
  /** Masks responses to events whose type has redacted paths, because a response may repeat them. */
  readonly redacted?: boolean | undefined;
}

/** Newest delivery first, so that retries are listed with their delivery; within it, newest attempt first. */
export async function listEndpointAttempts(
  { db, hiding }: { readonly db: Queryable; readonly hiding: () => Promise<(eventType: string) => boolean> },
  tenant: string,
  id: string,
  query: EndpointAttemptQuery = {},
): Promise<Page<EndpointAttempt>> {
  const reader = new QueryReader();
  const limit = reader.limit(query);
  const after = readPlace(reader, query);
  reader.finish(["limit", "cursor", "redacted"], query);
  const uuid = parseId("ep", String(id));
  const isThere = uuid !== null && isTenantId(tenant) && (await findEndpoint(db, tenant, uuid)) !== null;
  if (!isThere) throw endpointNotFound(id);
  const { rows, examinedUpTo } = await attemptsOfEndpoint(db, uuid, after, limit + 1);
  const isRedacted = query.redacted === true ? await hiding() : () => false;
  const view = (row: EndpointAttemptRow) => toView(row, isRedacted(row.eventType));
  return toPage("attempts", rows, limit, view, keyOf, examinedUpTo && keyOf(examinedUpTo));
}

const BEGINNING: AttemptPlace = { deliveryId: HIGHEST_UUID, number: 2 ** 31 - 1 };
const PLACE = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}):([1-9][0-9]{0,8})$/;

function keyOf({ deliveryId, number }: AttemptPlace): string {
  return `${deliveryId}:${number}`;
}

function readPlace(reader: QueryReader, query: PageQuery): AttemptPlace {
  const cursor = reader.cursor("attempts", query);
  if (cursor === null) return BEGINNING;
  const [, deliveryId, number] = PLACE.exec(cursor) ?? [];
  if (deliveryId === undefined) reader.refuseCursor();
  return { deliveryId: deliveryId ?? HIGHEST_UUID, number: Number(number) };
}

function toView(
  { deliveryId, eventId, eventType: _, ...row }: EndpointAttemptRow,
  isRedacted: boolean,
): EndpointAttempt {
  const attempt = toAttemptView(row, deliveryId);
  return {
    deliveryId: formatId("dlv", deliveryId),
    eventId: formatId("evt", eventId),
    ...(isRedacted ? withoutResponse(attempt) : attempt),
  };
}

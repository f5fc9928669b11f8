// Lists attempts: of any deliveries, and of one endpoint.
import { formatId } from "@posthorn/wire";
import type { Queryable } from "../../storage/database.ts";
import {
  type AttemptFilter,
  type AttemptPlace,
  type ListedAttemptRow,
  listAttempts,
} from "../../storage/queries/attempts.ts";
import {
  HIGHEST_UUID,
  idRange,
  LOWEST_UUID,
  type Page,
  type PageQuery,
  readPage,
  TIME_RANGE,
  type TimeRangeQuery,
  toPage,
  UUID,
} from "../page.ts";
import { text, unchecked } from "../read-fields.ts";
import { type AttemptView, toAttemptView, withoutResponse } from "./attempt-view.ts";
import { type EndpointFilter, endpointsAsked, OF_ENDPOINT } from "./deliveries.ts";

/** An attempt with its delivery. */
export interface ListedAttempt extends AttemptView {
  readonly deliveryId: string;
  readonly eventId: string;
  readonly endpointId: string;
  readonly tenant: string;
  readonly eventType: string;
}

interface Redacted {
  /** Masks responses to events whose type has redacted paths, because a response may repeat them. */
  readonly redacted?: boolean | undefined;
}

export type EndpointAttemptQuery = PageQuery & Redacted;

/** `createdAfter` and `createdBefore` are about the event. */
export interface AttemptQuery extends TimeRangeQuery, EndpointFilter, Redacted {
  readonly type?: string | undefined;
}

export interface AttemptsOptions {
  readonly db: Queryable;
  readonly hiding: () => Promise<(eventType: string) => boolean>;
}

const LIST = "attempts";
const KEY = `${UUID}:[1-9][0-9]{0,8}`;
const REDACTED = { redacted: unchecked<boolean>() };

/** Newest delivery first, so that retries are listed with their delivery; within it, newest attempt first. */
export async function attemptsOf(
  options: AttemptsOptions,
  query: AttemptQuery = {},
): Promise<Page<ListedAttempt>> {
  const filters = { ...OF_ENDPOINT, ...TIME_RANGE, ...REDACTED, type: text() };
  const asked = readPage(LIST, query, filters, KEY);
  const endpointIds = await endpointsAsked(options.db, asked);
  return await pageOf(options, { endpointIds, type: asked.type, ...idRange(asked) }, asked);
}

export async function attemptsOfEndpoint(
  options: AttemptsOptions,
  endpointId: string,
  query: EndpointAttemptQuery = {},
): Promise<Page<ListedAttempt>> {
  const filter = { endpointIds: [endpointId], type: null, notBefore: LOWEST_UUID, before: HIGHEST_UUID };
  return await pageOf(options, filter, readPage(LIST, query, REDACTED, KEY));
}

async function pageOf(
  { db, hiding }: AttemptsOptions,
  filter: AttemptFilter,
  page: { readonly limit: number; readonly cursor: string | null; readonly redacted: boolean | null },
): Promise<Page<ListedAttempt>> {
  const { limit, cursor, redacted } = page;
  const { rows, examinedUpTo } = await listAttempts(db, filter, placeOf(cursor), limit + 1);
  const isRedacted = redacted === true ? await hiding() : () => false;
  const view = (row: ListedAttemptRow) => toView(row, isRedacted(row.eventType));
  return toPage(LIST, rows, limit, view, keyOf, examinedUpTo && keyOf(examinedUpTo));
}

const BEGINNING: AttemptPlace = { deliveryId: HIGHEST_UUID, number: 2 ** 31 - 1 };

function keyOf({ deliveryId, number }: AttemptPlace): string {
  return `${deliveryId}:${number}`;
}

function placeOf(key: string | null): AttemptPlace {
  if (key === null) return BEGINNING;
  const [deliveryId = "", number] = key.split(":");
  return { deliveryId, number: Number(number) };
}

function toView(row: ListedAttemptRow, isRedacted: boolean): ListedAttempt {
  const { deliveryId, eventId, endpointId, tenant, eventType, ...attempt } = row;
  const view = toAttemptView(attempt, deliveryId);
  return {
    deliveryId: formatId("dlv", deliveryId),
    eventId: formatId("evt", eventId),
    endpointId: formatId("ep", endpointId),
    tenant,
    eventType,
    ...(isRedacted ? withoutResponse(view) : view),
  };
}

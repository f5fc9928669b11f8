// Lists the attempts of an endpoint.
import { formatId } from "@posthorn/wire";
import type { Queryable } from "../../storage/database.ts";
import {
  type AttemptPlace,
  attemptsOfEndpoint,
  type EndpointAttemptRow,
} from "../../storage/queries/attempts.ts";
import { type AttemptView, toAttemptView, withoutResponse } from "../deliveries/attempt-view.ts";
import { HIGHEST_UUID, type Page, type PageQuery, readPage, toPage, UUID } from "../page.ts";
import { unchecked } from "../read-fields.ts";
import { knownEndpoint } from "./changes.ts";

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
  const filters = { redacted: unchecked<boolean>() };
  const { limit, cursor, redacted } = readPage("attempts", query, filters, `${UUID}:[1-9][0-9]{0,8}`);
  const endpoint = await knownEndpoint(db, tenant, id);
  const { rows, examinedUpTo } = await attemptsOfEndpoint(db, endpoint.id, placeOf(cursor), limit + 1);
  const isRedacted = redacted === true ? await hiding() : () => false;
  const view = (row: EndpointAttemptRow) => toView(row, isRedacted(row.eventType));
  return toPage("attempts", rows, limit, view, keyOf, examinedUpTo && keyOf(examinedUpTo));
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

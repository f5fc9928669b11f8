// Requests as a sender by Standard Webhooks makes them, at a time that is always the same.
import { randomUUID } from "node:crypto";
import type { WebhookRequest } from "@posthorn/receiver";
import { generateSecret, sign } from "@posthorn/wire";

/** What receivers in tests take for the present. */
export const NOW = new Date("2026-06-01T12:00:00Z");
export const secret = generateSecret();

export interface Delivery extends WebhookRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
}

export interface DeliveryGiven {
  readonly id?: string;
  readonly payload?: unknown;
  /** The bytes, when they are not the payload's JSON. */
  readonly body?: Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly atSeconds?: number;
}

export async function signedDelivery(given: DeliveryGiven = {}): Promise<Delivery> {
  const {
    id = `msg_${randomUUID()}`,
    payload = { type: "order.paid", data: { total: 1 } },
    headers = {},
  } = given;
  const body = given.body ?? new TextEncoder().encode(JSON.stringify(payload));
  const timestamp = String(given.atSeconds ?? NOW.getTime() / 1000);
  const signature = await sign({
    schemes: ["standard-webhooks"],
    secrets: given.secrets ?? [secret],
    id,
    timestamp,
    body,
  });
  return {
    method: "POST",
    url: "https://shop.example/webhooks",
    headers: { "content-type": "application/json", ...headers, ...signature },
    body,
  };
}

/** A member of a batch. */
export function cloudEvent(id: string, given: Readonly<Record<string, unknown>> = {}) {
  return { specversion: "1.0", id, source: "/shop", type: "order.paid", data: { id }, ...given };
}

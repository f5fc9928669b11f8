// Requests of a Standard Webhooks sender, at a fixed time.
import { randomUUID } from "node:crypto";
import type { WebhookRequest } from "@posthorn/receiver";
import { generateSecret, sign } from "@posthorn/wire";

/** The current time of receivers in tests. */
export const NOW = new Date("2026-06-01T12:00:00Z");
export const secret = generateSecret();

export interface Delivery extends WebhookRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
}

export interface DeliveryOptions {
  readonly id?: string;
  readonly payload?: unknown;
  /** Replaces the payload's JSON. */
  readonly body?: Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly atSeconds?: number;
}

export async function signedDelivery(options: DeliveryOptions = {}): Promise<Delivery> {
  const {
    id = `msg_${randomUUID()}`,
    payload = { type: "order.paid", data: { total: 1 } },
    headers = {},
  } = options;
  const body = options.body ?? new TextEncoder().encode(JSON.stringify(payload));
  const timestamp = String(options.atSeconds ?? NOW.getTime() / 1000);
  const signature = await sign({
    schemes: ["standard-webhooks"],
    secrets: options.secrets ?? [secret],
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
export function cloudEvent(id: string, attributes: Readonly<Record<string, unknown>> = {}) {
  return { specversion: "1.0", id, source: "/shop", type: "order.paid", data: { id }, ...attributes };
}

export async function batchOf(...ids: string[]): Promise<Delivery> {
  const headers = { "content-type": "application/cloudevents-batch+json" };
  return signedDelivery({ id: "batch", payload: ids.map((id) => cloudEvent(id)), headers });
}

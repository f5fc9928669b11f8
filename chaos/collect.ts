// Gathers what the witnesses wrote down.
import { readFileSync } from "node:fs";
import { formatId } from "@posthorn/wire";
import type { Evidence, LedgerAttempt, LedgerDelivery, Order, ReceivedRequest } from "./evidence.ts";
import type { World } from "./world.ts";

export function readReceiverLog(path: string): Pick<Evidence, "requests" | "canaryHits"> {
  const lines = readFileSync(path, "utf8").trim().split("\n").filter(Boolean);
  const open = new Map<number, object>();
  const requests: ReceivedRequest[] = [];
  const canaryHits: string[] = [];
  for (const line of lines) {
    const { what, number, ...rest } = JSON.parse(line);
    if (what === "canary") canaryHits.push(rest.hit);
    if (what === "came") open.set(number, rest);
    if (what !== "ended") continue;
    requests.push({ ...open.get(number), ...rest });
    open.delete(number);
  }
  // nobody hung up on these yet
  const unended = { endedAt: Number.POSITIVE_INFINITY, answeredAt: null, status: null, retryAfterMs: null };
  for (const came of open.values()) requests.push({ ...came, ...unended, content: null } as ReceivedRequest);
  return { requests, canaryHits };
}

export async function readLedger({
  postgres,
}: World): Promise<Pick<Evidence, "deliveries" | "attempts" | "events" | "orders">> {
  const deliveries = await postgres.query<LedgerDelivery & { id: string }>(
    `select id, event_id as "eventId", endpoint_id as "endpointId", state, attempts from posthorn.delivery_states`,
  );
  const attempts = await postgres.query<LedgerAttempt & { deliveryId: string }>(
    `select delivery_id as "deliveryId", number, status_code as "statusCode", error from posthorn.attempts`,
  );
  const events = await postgres.query<{ id: string; key: string }>(
    `select id, substring(convert_from(payload, 'utf8') from '"key":"([^"]*)"') as key from posthorn.events`,
  );
  const orders = await postgres.query<Order & { key: string }>(
    `select key, event_id as "eventId" from chaos_orders`,
  );
  return {
    deliveries: deliveries.map((row) => ({
      ...row,
      id: formatId("dlv", row.id),
      eventId: formatId("evt", row.eventId),
      endpointId: formatId("ep", row.endpointId),
    })),
    attempts: attempts.map((row) => ({ ...row, deliveryId: formatId("dlv", row.deliveryId) })),
    events: events.map((row) => ({ ...row, id: formatId("evt", row.id) })),
    orders,
  };
}

// Plans a bulk action: which rows it applies to, and why not to the others. Shown to the user before the action runs.
import type { Delivery, Endpoint, Tenant } from "@posthorn/client";

export type Refusal =
  | "in_flight"
  | "delivered"
  | "endpoint_disabled"
  | "endpoint_not_agreed"
  | "endpoint_deleted"
  | "tenant_inactive"
  | "not_dead"
  | "is_active"
  | "is_disabled"
  | "is_subscription";

export interface Plan<Row> {
  readonly doable: readonly Row[];
  /** Grouped by reason. */
  readonly refused: readonly { readonly why: Refusal; readonly rows: readonly Row[] }[];
}

/** Endpoints and tenants of the deliveries by id; null if deleted, missing if not loaded. */
export interface Related {
  readonly endpoints: ReadonlyMap<string, Endpoint | null>;
  readonly tenants: ReadonlyMap<string, Tenant | null>;
}

export function planRetry(
  deliveries: readonly Delivery[],
  { endpoints, tenants }: Related,
  { sendsDeliveredAgain }: { readonly sendsDeliveredAgain: boolean },
): Plan<Delivery> {
  return plan(deliveries, ({ state, endpoint_id, tenant }) => {
    if (state === "in_flight") return "in_flight";
    if (state === "success" && !sendsDeliveredAgain) return "delivered";
    if (tenants.get(tenant)?.is_active === false) return "tenant_inactive";
    const endpoint = endpoints.get(endpoint_id);
    if (endpoint === null) return "endpoint_deleted";
    if (endpoint?.is_active === false) return "endpoint_disabled";
    return hasAgreed(endpoint?.handshake) ? null : "endpoint_not_agreed";
  });
}

/** True also if no consent is required, or nothing is known. */
function hasAgreed(handshake: Endpoint["handshake"] | undefined): boolean {
  return handshake?.state === undefined || handshake.state === "granted";
}

export function planDelete(deliveries: readonly Delivery[]): Plan<Delivery> {
  return plan(deliveries, ({ state }) => (state === "dead" ? null : "not_dead"));
}

export function planSwitch(endpoints: readonly Endpoint[], isOn: boolean): Plan<Endpoint> {
  return plan(endpoints, ({ is_active, websub }) => {
    if (websub !== null) return "is_subscription";
    if (is_active !== isOn) return null;
    return isOn ? "is_active" : "is_disabled";
  });
}

function plan<Row>(rows: readonly Row[], refuse: (row: Row) => Refusal | null): Plan<Row> {
  const doable: Row[] = [];
  const refused = new Map<Refusal, Row[]>();
  for (const row of rows) {
    const why = refuse(row);
    if (why === null) doable.push(row);
    else refused.set(why, [...(refused.get(why) ?? []), row]);
  }
  return { doable, refused: [...refused].map(([why, ofReason]) => ({ why, rows: ofReason })) };
}

/** Counts rows by name, most frequent first. */
export function countBy<Row>(
  rows: readonly Row[],
  nameOf: (row: Row) => string,
): readonly { readonly name: string; readonly count: number }[] {
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(nameOf(row), (counts.get(nameOf(row)) ?? 0) + 1);
  return [...counts].map(([name, count]) => ({ name, count })).toSorted((a, b) => b.count - a.count);
}

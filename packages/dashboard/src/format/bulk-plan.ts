// Plans a bulk action: which rows it applies to, and why not to the others. Shown to the user before the action runs.
import type { Delivery, Endpoint, Tenant } from "@posthorn/client";
import { inLanguage } from "../app/texts.ts";

/** Why a row is skipped. */
export const skipTexts = inLanguage({
  in_flight: ["attempt in flight", "Versuch läuft"],
  delivered: ["already delivered", "bereits zugestellt"],
  endpoint_disabled: [
    "the endpoint is disabled; enable it first",
    "der Endpunkt ist deaktiviert; zuerst aktivieren",
  ],
  endpoint_not_agreed: ["the receiver has not consented to webhooks", "die Zustimmung des Empfängers fehlt"],
  endpoint_deleted: ["the endpoint was deleted", "der Endpunkt wurde gelöscht"],
  tenant_inactive: [
    "the tenant is inactive; activate it first",
    "der Mandant ist inaktiv; zuerst aktivieren",
  ],
  not_dead: ["only dead letters can be deleted", "nur Dead Letters können gelöscht werden"],
  is_active: ["already enabled", "bereits aktiviert"],
  is_disabled: ["already disabled", "bereits deaktiviert"],
  is_subscription: [
    "WebSub subscriptions are managed by their subscribers",
    "WebSub-Abonnements werden von ihren Abonnenten verwaltet",
  ],
} as const);
type SkipReason = keyof typeof skipTexts;

export interface Plan<Row> {
  readonly doable: readonly Row[];
  /** Grouped by reason. */
  readonly skipped: readonly { readonly why: SkipReason; readonly rows: readonly Row[] }[];
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

function plan<Row>(rows: readonly Row[], reasonToSkip: (row: Row) => SkipReason | null): Plan<Row> {
  const doable: Row[] = [];
  const skipped = new Map<SkipReason, Row[]>();
  for (const row of rows) {
    const why = reasonToSkip(row);
    if (why === null) doable.push(row);
    else skipped.set(why, [...(skipped.get(why) ?? []), row]);
  }
  return { doable, skipped: [...skipped].map(([why, ofReason]) => ({ why, rows: ofReason })) };
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

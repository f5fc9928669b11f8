// Turns dead letters and changes of circuits into system events and notifications, in the leading process. Incidents are
// stored with what they report and removed in the transaction that records what follows from them: a crash loses none
// and repeats none.
//
//   settle, record health ──► incidents ──one transaction──► system events ──► outbox
//                                                       └──► notifications (one per endpoint, kind and hour)
import { formatId } from "@posthorn/wire";
import type { Uuid } from "../model.ts";
import type { Logger } from "../observe/log.ts";
import { Loop, POLLED_MS } from "../service/loop.ts";
import type { Database, Queryable } from "../storage/database.ts";
import { recordSystemEvent } from "../storage/queries/events/record-system-event.ts";
import {
  type IncidentKind,
  type IncidentRow,
  takeIncidents,
} from "../storage/queries/notifications/incidents.ts";
import {
  withdrawCircuitNotification,
  writeNotifications,
} from "../storage/queries/notifications/notifications.ts";
import type { ChannelName } from "./channel-names.ts";
import { withoutQuery } from "./wording.ts";

export interface IncidentReporterOptions {
  readonly db: Database;
  readonly logger: Logger;
  /** The endpoints of this tenant receive the system events of all tenants. */
  readonly operatorTenant: string | null;
  readonly channels: readonly ChannelName[];
  /** Whether this process leads. */
  readonly leads: () => boolean;
}

/** How long dead letters are collected for one mail, and a circuit must be open to be worth one. */
export const COLLECT_MS = 5 * 60_000;
const STEP = 100;

const TYPES: Readonly<Record<IncidentKind, string>> = {
  dead: "webhook.delivery.dead",
  circuit_opened: "webhook.endpoint.circuit_opened",
  circuit_recovered: "webhook.endpoint.recovered",
};

export class IncidentReporter extends Loop {
  readonly #options: IncidentReporterOptions;

  constructor(options: IncidentReporterOptions) {
    const { logger } = options;
    super({ name: "reporting incidents", intervalMs: POLLED_MS, logger, step: () => this.#report() });
    this.#options = options;
  }

  async #report(): Promise<boolean> {
    const { db, operatorTenant, leads } = this.#options;
    if (!leads()) return false;
    return await db.transaction(async (tx) => {
      const { incidents, taken } = await takeIncidents(tx, { types: TYPES, operatorTenant, limit: STEP });
      for (const incident of incidents) {
        if (incident.tenants.length > 0) await recordSystemEvent(tx, systemEventOf(incident));
      }
      await this.#notify(tx, incidents);
      return taken === STEP;
    });
  }

  async #notify(tx: Queryable, incidents: readonly IncidentRow[]): Promise<void> {
    const { channels } = this.#options;
    if (channels.length === 0) return;
    const dead = new Map<Uuid, { readonly sinceMs: number; readonly count: number }>();
    for (const { kind, endpointId, atMs } of incidents) {
      const common = { endpointId, channels, sinceMs: atMs, delayMs: COLLECT_MS, count: 1 };
      if (kind === "circuit_opened") await writeNotifications(tx, { ...common, kind: "circuit" });
      else if (kind === "circuit_recovered") await withdrawCircuitNotification(tx, endpointId);
      else {
        const { sinceMs = atMs, count = 0 } = dead.get(endpointId) ?? {};
        dead.set(endpointId, { sinceMs, count: count + 1 });
      }
    }
    for (const [endpointId, counted] of dead) {
      await writeNotifications(tx, { endpointId, channels, delayMs: COLLECT_MS, kind: "dead", ...counted });
    }
  }
}

function systemEventOf(incident: IncidentRow) {
  const { kind, tenants, atMs, reason, deliveryId, eventId, eventType, description } = incident;
  const subject = formatId("ep", incident.endpointId);
  const endpoint = {
    endpoint_id: subject,
    tenant: incident.tenant,
    url: withoutQuery(incident.url),
    description,
  };
  const at = new Date(atMs);
  const data = {
    dead: {
      delivery_id: deliveryId && formatId("dlv", deliveryId),
      event_id: eventId && formatId("evt", eventId),
      event_type: eventType,
      ...endpoint,
      reason,
      dead_at: at,
    },
    circuit_opened: { ...endpoint, last_error: reason, opened_at: at },
    circuit_recovered: { ...endpoint, recovered_at: at },
  };
  return { tenants, type: TYPES[kind], subject, payload: Buffer.from(JSON.stringify(data[kind])) };
}

// Tenants, endpoints, events and deliveries on a migrated database of their own, without an engine: what an engine
// would have written is put in place by hand.
import { formatId, RETRY_PRESETS, uuidv7 } from "@posthorn/wire";
import type pg from "pg";
import { afterAll } from "vitest";
import { parseAddressPolicy } from "../../packages/posthorn/src/attempt/guard/guard-address.ts";
import { Catalogue } from "../../packages/posthorn/src/catalogue/catalogue.ts";
import { DeclaredTypes } from "../../packages/posthorn/src/catalogue/declared-types.ts";
import { deliveryIdOf } from "../../packages/posthorn/src/fan-out/delivery-id.ts";
import { createAnnounce } from "../../packages/posthorn/src/notify/announce.ts";
import { createDeliveries } from "../../packages/posthorn/src/resources/deliveries/deliveries.ts";
import type { EndpointChange } from "../../packages/posthorn/src/resources/endpoints/changes.ts";
import type { EndpointDefaults } from "../../packages/posthorn/src/resources/endpoints/effective-settings.ts";
import { createEndpoints } from "../../packages/posthorn/src/resources/endpoints/endpoints.ts";
import { createTargets } from "../../packages/posthorn/src/resources/endpoints/targets.ts";
import { createEventTypes } from "../../packages/posthorn/src/resources/event-types/event-types.ts";
import { createEvents } from "../../packages/posthorn/src/resources/events/events.ts";
import { createMembers } from "../../packages/posthorn/src/resources/tenants/members.ts";
import { createTenants } from "../../packages/posthorn/src/resources/tenants/tenants.ts";
import { Database } from "../../packages/posthorn/src/storage/database.ts";
import { generateEncryptionKey, parseKeyRing } from "../../packages/posthorn/src/storage/key-ring.ts";
import { migrate } from "../../packages/posthorn/src/storage/migrate.ts";
import { createMigratedDatabase, createPool } from "./postgres.ts";

export const defaults: EndpointDefaults = {
  format: "envelope",
  formatContext: { source: "/tenants/{tenant}", datarefBase: "" },
  signature: { schemes: ["t-v1", "standard-webhooks"], headerPrefix: "X-Webhook" },
  timeoutMs: 10_000,
  maxInFlight: 5,
  retryPolicy: RETRY_PRESETS.courier,
  retryOn: "transient",
};

export type Resources = Awaited<ReturnType<typeof openResources>>;

/** Once per test file; tests keep apart by their tenants. */
export async function openResources({ maxPerTenant = 10 } = {}) {
  const database = await createMigratedDatabase();
  const pool = createPool(database.connectionString, { max: 20 });
  const db = new Database({ database: pool, schema: "posthorn" });
  afterAll(async () => {
    await db.close();
    await pool.end();
    await database.drop();
  });
  await migrate(db);
  const catalogue = new Catalogue({ db, mode: "auto", declared: new DeclaredTypes({}) });
  const keyRing = parseKeyRing(generateEncryptionKey());
  const changes: EndpointChange[] = [];
  const addressPolicy = parseAddressPolicy();
  const onChanged = (change: EndpointChange) => changes.push(change);
  return {
    db,
    pool,
    keyRing,
    catalogue,
    changes,
    tenants: createTenants({ db }),
    members: createMembers(db),
    endpoints: createEndpoints({
      db,
      keyRing,
      addressPolicy,
      defaults,
      nowMs: () => Date.now(),
      maxPerTenant,
      onChanged,
      typeProblems: () => catalogue.typeProblems(),
      hiding: () => catalogue.hiding(),
      announce: createAnnounce({ operatorTenant: null, sendMail: null, alertWebhookUrl: null }),
    }),
    targets: createTargets({ db, keyRing, defaults }),
    eventTypes: createEventTypes({ db, catalogue }),
    events: createEvents({ db, catalogue }),
    deliveries: createDeliveries({ db, catalogue }),
    ...recordsOf(pool),
  };
}

function recordsOf(pool: pg.Pool) {
  return {
    /** Returns the bare uuid. */
    async addEvent(
      tenant: string,
      {
        atMs = Date.now(),
        type = "order.paid",
        subject = null as string | null,
        payload = Buffer.from('{"b": 1.0, "a":2}'),
      } = {},
    ) {
      const id = uuidv7(atMs);
      await pool.query(
        "insert into posthorn.events (id, tenant, type, api_version, subject, payload) values ($1, $2, $3, '1', $4, $5)",
        [id, tenant, type, subject, payload],
      );
      return id;
    },

    /** Owed, not claimed unless told; returns `dlv_…`. */
    async addOwed(
      eventId: string,
      endpoint: string,
      { claimedBy = null as number | null, failures = 0 } = {},
    ) {
      const endpointId = endpoint.slice(3);
      const id = deliveryIdOf(eventId, endpointId);
      await pool.query(
        "insert into posthorn.queue (id, event_id, endpoint_id, next_at, schedule_started_at, claimed_by, attempts, failures) " +
          "values ($1, $2, $3, now(), now(), $4, $5, $5)",
        [id, eventId, endpointId, claimedBy, failures],
      );
      return formatId("dlv", id);
    },

    /** Ended, after one attempt; returns `dlv_…`. */
    async addEnded(
      eventId: string,
      endpoint: string,
      state: "success" | "dead",
      deadReason: string | null = null,
    ) {
      const endpointId = endpoint.slice(3);
      const id = deliveryIdOf(eventId, endpointId);
      await pool.query(
        "insert into posthorn.deliveries (id, event_id, endpoint_id, state, dead_reason, attempts, replay_count, finished_at) " +
          "values ($1, $2, $3, $4, $5, 1, 0, now())",
        [id, eventId, endpointId, state, deadReason],
      );
      await pool.query(
        "insert into posthorn.attempts (delivery_id, number, started_at, duration_ms, status_code, response_body, trigger, worker) " +
          "values ($1, 1, now(), 12, $2, 'hello', 'event', 7)",
        [id, state === "success" ? 200 : 400],
      );
      return formatId("dlv", id);
    },

    async lane(endpoint: string) {
      const { rows } = await pool.query(
        "select owner, paused, ready_at is not null as is_ready from posthorn.lanes where endpoint_id = $1",
        [endpoint.slice(3)],
      );
      return rows[0] as { owner: number | null; paused: boolean; is_ready: boolean };
    },

    async routingVersion(tenant: string) {
      const { rows } = await pool.query("select routing_version from posthorn.tenants where id = $1", [
        tenant,
      ]);
      return Number(rows[0].routing_version);
    },
  };
}

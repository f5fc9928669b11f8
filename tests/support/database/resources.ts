// Tenants, endpoints, events and deliveries in their own migrated database, without an engine: what an engine
// would have written is inserted directly.

import { formatId, uuidv7 } from "@posthorn/wire";
import type pg from "pg";
import { afterAll, expect } from "vitest";
import { parseAddressPolicy } from "../../../packages/posthorn/src/attempt/guard/guard-address.ts";
import { createLookUpHosts } from "../../../packages/posthorn/src/attempt/guard/look-up-hosts.ts";
import type { Resolve } from "../../../packages/posthorn/src/attempt/guard/resolve-name.ts";
import { Catalogue } from "../../../packages/posthorn/src/catalogue/catalogue.ts";
import { DeclaredTypes } from "../../../packages/posthorn/src/catalogue/declared-types.ts";
import { subscriptionKind } from "../../../packages/posthorn/src/destinations/websub/subscriptions.ts";
import { deliveryIdOf } from "../../../packages/posthorn/src/fan-out/delivery-id.ts";
import { createAnnounce } from "../../../packages/posthorn/src/notify/announce.ts";
import { OptionCheck } from "../../../packages/posthorn/src/option-checks.ts";
import { createDeliveries } from "../../../packages/posthorn/src/resources/deliveries/deliveries.ts";
import type { EndpointChange } from "../../../packages/posthorn/src/resources/endpoints/changes.ts";
import type { EndpointDefaults } from "../../../packages/posthorn/src/resources/endpoints/effective-settings.ts";
import { readEndpointDefaults } from "../../../packages/posthorn/src/resources/endpoints/endpoint-defaults.ts";
import { createEndpoints } from "../../../packages/posthorn/src/resources/endpoints/endpoints.ts";
import type { EndpointInput } from "../../../packages/posthorn/src/resources/endpoints/settings.ts";
import { createTargets } from "../../../packages/posthorn/src/resources/endpoints/targets.ts";
import { withHostLookups } from "../../../packages/posthorn/src/resources/endpoints/with-host-lookups.ts";
import { createEventTypes } from "../../../packages/posthorn/src/resources/event-types/event-types.ts";
import { createEvents } from "../../../packages/posthorn/src/resources/events/events.ts";
import { createMembers } from "../../../packages/posthorn/src/resources/tenants/members.ts";
import { createTenants } from "../../../packages/posthorn/src/resources/tenants/tenants.ts";
import { Database, type Queryable } from "../../../packages/posthorn/src/storage/database.ts";
import { generateEncryptionKey, parseKeyRing } from "../../../packages/posthorn/src/storage/key-ring.ts";
import { migrate } from "../../../packages/posthorn/src/storage/migrate.ts";
import { statement } from "../../../packages/posthorn/src/storage/sql.ts";
import { resolveAnyName } from "../../../packages/posthorn/src/testing/resolve-any-name.ts";
import { createMigratedDatabase, createPool } from "./postgres.ts";

export const defaults: EndpointDefaults = {
  ...readEndpointDefaults(new OptionCheck(), {}),
  formatContext: { source: "/tenants/{tenant}", datarefBase: "" },
};

const hook = { url: "https://example.com/hooks", events: ["*"] };

/** Once per test file; tests use their own tenants. */
export async function openResources({
  maxPerTenant = 10,
  resolve = resolveAnyName,
}: {
  readonly maxPerTenant?: number;
  readonly resolve?: Resolve;
} = {}) {
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
  const tenants = createTenants({ db, subscriptions: subscriptionKind });
  const withoutLookups = createEndpoints({
    db,
    keyRing,
    addressPolicy,
    defaults,
    nowMs: () => Date.now(),
    subscriptions: subscriptionKind,
    maxPerTenant,
    onChanged,
    typeProblems: () => catalogue.typeProblems(),
    hiding: () => catalogue.hiding(),
    announce: createAnnounce({ operatorTenant: null, sendMail: null, alertWebhookUrl: null }),
  });
  const lookUpHosts = createLookUpHosts({ policy: addressPolicy, resolve });
  const endpoints = withHostLookups(withoutLookups, lookUpHosts);
  /** Creates a tenant for one test, and returns its id. */
  const newTenant = async () => (await tenants.upsert(`tenant-${crypto.randomUUID()}`)).id;
  return {
    db,
    pool,
    catalogue,
    changes,
    tenants,
    newTenant,
    members: createMembers(db),
    endpoints,
    /** Creates an endpoint for all events, by default of a new tenant. `uuid` is its id without the prefix. */
    async newEndpoint(input: Partial<EndpointInput> = {}, of?: string) {
      const tenant = of ?? (await newTenant());
      const { endpoint, secret } = await endpoints.create(tenant, { ...hook, ...input });
      return { tenant, endpoint, secret, id: endpoint.id, uuid: endpoint.id.slice(3) };
    },
    targets: createTargets({ db, keyRing, defaults }),
    eventTypes: createEventTypes({ db, catalogue, apiVersion: "1" }),
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

    /**
     * Creates events of a tenant, a millisecond apart. With an endpoint each has a delivery: queued, or else ended by a
     * success.
     */
    async addMany(
      tenant: string,
      count: number,
      beginMs: number,
      { endpoint = null as string | null, isQueued = false } = {},
    ) {
      await pool.query(
        `with made as (
           insert into posthorn.events (id, tenant, type, api_version, subject, payload)
           select posthorn.uuidv7(to_timestamp(($3::double precision + n) / 1000)), $1, 'common.type', '1', 'common', '1'
           from generate_series(1, $2::integer) n
           returning id
         ),
         queued as (
           insert into posthorn.queue (id, event_id, endpoint_id, next_at, schedule_started_at)
           select id, id, $4, now(), now() from made where $5::boolean
         )
         insert into posthorn.deliveries (id, event_id, endpoint_id, state, attempts, replay_count, finished_at)
         select id, id, $4, 'success', 1, 0, now() from made where $4::uuid is not null and not $5::boolean`,
        [tenant, count, beginMs, endpoint?.slice(3) ?? null, isQueued],
      );
    },

    /** Queues deliveries of events that do not exist, a millisecond apart. */
    async addBacklog(endpoint: string, count: number, beginMs: number) {
      await pool.query(
        `insert into posthorn.queue (id, event_id, endpoint_id, next_at, schedule_started_at)
         select posthorn.uuidv7(to_timestamp(($3::double precision + n) / 1000)), gen_random_uuid(), $1, now(), now()
         from generate_series(1, $2::integer) n`,
        [endpoint.slice(3), count, beginMs],
      );
      await pool.query("analyze posthorn.queue");
    },

    /** Queued, by default not claimed; returns `dlv_…`. */
    async addQueued(
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
        state === "success"
          ? "update posthorn.deliveries set started_at = now(), duration_ms = 12, status_code = 200, response_body = 'hello', worker = 7 where id = $1"
          : "insert into posthorn.attempt_log (delivery_id, number, started_at, duration_ms, status_code, response_body, trigger, worker) " +
              "values ($1, 1, now(), 12, 400, 'hello', 'event', 7)",
        [id],
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

/** The attempt of a successful delivery that `addEnded` writes, as the API returns it. */
export const endedAttempt = {
  number: 1,
  startedAt: expect.any(Date),
  durationMs: 12,
  statusCode: 200,
  error: null,
  responseBody: Buffer.from("hello"),
  nextRetryAt: null,
  trigger: "event",
  worker: 7,
  phases: {
    queueMs: expect.any(Number),
    connectMs: null,
    tlsMs: null,
    firstByteMs: null,
    bodyMs: null,
  },
};

/** Reads a list to its end, page by page. */
export async function readPages<Item>(
  read: (cursor?: string) => Promise<{ readonly data: readonly Item[]; readonly nextCursor: string | null }>,
): Promise<(readonly Item[])[]> {
  const pages: (readonly Item[])[] = [];
  let cursor: string | undefined;
  do {
    const page = await read(cursor);
    pages.push(page.data);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return pages;
}

/**
 * Counts the rows of a table that a call reads: its cost without measuring time. A statement is planned for its values
 * the first times and for any values later, so both plans are tried.
 */
export async function rowsRead(
  db: Database,
  table: "events" | "deliveries" | "attempt_log" | "queue" | "replayed_deliveries" | "replay_outcomes",
  work: (tx: Queryable) => Promise<unknown>,
): Promise<number> {
  const read: number[] = [];
  for (const prepared of [forAnyValues, forTheseValues]) {
    await db.transaction(async (tx) => {
      const before = await count(tx, table);
      await work({
        async query(asked, values) {
          await tx.query(asked.replansEachTime ? forTheseValues : prepared);
          return await tx.query(asked, values);
        },
      });
      read.push((await count(tx, table)) - before);
    });
  }
  return Math.max(...read);
}

const forAnyValues = statement("plan for any values")`set local plan_cache_mode = force_generic_plan`;
const forTheseValues = statement("plan for these values")`set local plan_cache_mode = force_custom_plan`;

async function count(tx: Queryable, table: string): Promise<number> {
  const [row] = await tx.query<{ read: number }>(countStatement, [table]);
  return row?.read ?? 0;
}

/** With its partitions. */
const countStatement = statement(
  "rows read",
)`select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::integer as read
   from pg_stat_xact_user_tables
   where schemaname = 'posthorn' and (relname = $1 or relname like $1 || '\\_%')`;

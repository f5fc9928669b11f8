// What a delivery waits for, for every reason, alone and together. The limits of a lane, which only its owner knows, are
// tested in delivery/endpoint-trouble.integration.test.ts.
import { expect, test } from "vitest";
import { openResources, rowsRead } from "../../../../../tests/support/database/resources.ts";
import { type DeliveryRow, findDeliveries } from "../../storage/queries/deliveries/read.ts";
import { requeueDelivery } from "../../storage/queries/queue/requeue.ts";
import { createDeliveries, type DeliveryView } from "./deliveries.ts";
import { ALWAYS, readWaits } from "./waits.ts";

const { deliveries, newEndpoint, ...world } = await openResources();

const HOUR_MS = 3_600_000;

/** Statements that bring about a situation of an endpoint. */
const situations = {
  "the tenant is inactive":
    "update posthorn.tenants set is_active = false where id = (select tenant from posthorn.endpoints where id = $1)",
  "the endpoint is disabled": "update posthorn.endpoints set is_active = false where id = $1",
  "the handshake is denied":
    "insert into posthorn.endpoint_handshakes (endpoint_id, origin, state, callback_token) values ($1, 'a.example', 'denied', gen_random_uuid()::text)",
  "the handshake is granted":
    "insert into posthorn.endpoint_handshakes (endpoint_id, origin, state, callback_token) values ($1, 'a.example', 'granted', gen_random_uuid()::text)",
  "it is parked": "update posthorn.queue set next_at = 'infinity' where endpoint_id = $1",
  "its retry is in an hour":
    "update posthorn.queue set next_at = now() + interval '1 hour' where endpoint_id = $1",
  "its retry was an hour ago":
    "update posthorn.queue set next_at = now() - interval '1 hour' where endpoint_id = $1",
  "the circuit is open for a minute": health("probe_at", "1 minute"),
  "the circuit is open for two hours": health("probe_at", "2 hours"),
  "the circuit is half-open": health("probe_at", "-1 second"),
  "the receiver asked for two hours": health("throttled_until", "2 hours"),
  "the receiver's pause is over": health("throttled_until", "-1 second"),
  "the lane is at its cap": limited("cap", 60),
  "the lane is at its rate": limited("rate_limit", 60),
  "a dead worker's lane was at its cap": limited("cap", -1),
} as const;

function health(column: string, interval: string): string {
  return `insert into posthorn.endpoint_health (endpoint_id, consecutive_failures, trips, throttles, ${column})
    values ($1, 1, 1, 1, now() + interval '${interval}')
    on conflict (endpoint_id) do update set ${column} = excluded.${column}`;
}

function limited(by: string, leaseSeconds: number): string {
  return `with w as (
      insert into posthorn.workers (lease_expires_at, holds_liveness_lock, name)
      values (now() + interval '${leaseSeconds} seconds', false, 'test') returning id
    )
    insert into posthorn.lanes (endpoint_id, owner, limited_by, limited_until, sending)
    select $1, w.id, '${by}', 'infinity', '{}' from w
    on conflict (endpoint_id) do update set owner = excluded.owner, limited_by = excluded.limited_by`;
}

async function failedDelivery(...when: readonly (keyof typeof situations)[]) {
  const { tenant, id: endpoint, uuid } = await newEndpoint();
  const id = await world.addQueued(await world.addEvent(tenant), endpoint, { failures: 1 });
  await world.pool.query("update posthorn.queue set trigger = 'retry' where endpoint_id = $1", [uuid]);
  for (const each of when) await world.pool.query(situations[each], [uuid]);
  return { tenant, endpoint, id };
}

test("what a delivery waits for after an attempt is not returned with the state before it", async () => {
  const { id } = await failedDelivery("its retry is in an hour");
  const [failed] = await findDeliveries(world.db, [id.slice("dlv_".length)]);
  const reasonOf = async (state: DeliveryRow["state"]) => {
    const row = { ...(failed as DeliveryRow), state };
    return (await readWaits(world.db, [row], ALWAYS))(row)?.reason ?? null;
  };
  expect(await reasonOf("failed")).toBe("retry_delay");
  expect(await reasonOf("pending")).toBeNull();
  expect(await reasonOf("in_flight")).toBeNull();
});

test.each<[readonly (keyof typeof situations)[], string | null, number | null]>([
  [[], null, null],
  [["its retry was an hour ago"], null, null],
  [["its retry is in an hour"], "retry_delay", HOUR_MS],
  [["the tenant is inactive"], "tenant_off", null],
  [["the tenant is inactive", "the endpoint is disabled", "it is parked"], "tenant_off", null],
  [["the endpoint is disabled", "its retry is in an hour"], "endpoint_disabled", null],
  [["the endpoint is disabled", "the circuit is open for a minute"], "endpoint_disabled", null],
  [["the handshake is denied", "its retry is in an hour"], "handshake", null],
  [["the handshake is granted", "its retry is in an hour"], "retry_delay", HOUR_MS],
  [["it is parked", "the circuit is open for two hours"], "ordering", null],
  [["its retry was an hour ago", "the circuit is open for a minute"], "circuit", HOUR_MS / 60],
  [["its retry is in an hour", "the circuit is open for a minute"], "retry_delay", HOUR_MS],
  [["its retry is in an hour", "the circuit is open for two hours"], "circuit", 2 * HOUR_MS],
  [["its retry is in an hour", "the circuit is half-open"], "retry_delay", HOUR_MS],
  [["the circuit is half-open"], "circuit", null],
  [["the circuit is open for a minute", "the receiver asked for two hours"], "rate_limit", 2 * HOUR_MS],
  [["the receiver's pause is over"], null, null],
  [["the lane is at its cap"], "cap", null],
  [["the lane is at its cap", "its retry is in an hour"], "retry_delay", HOUR_MS],
  [["the lane is at its rate"], "rate_limit", null],
  [["a dead worker's lane was at its cap"], null, null],
])("a failed delivery, if %j, waits for %s", async (when, reason, afterMs) => {
  const { tenant, endpoint, id } = await failedDelivery(...when);
  const [listed] = (await deliveries.list({ tenant })).data;
  const views: readonly (DeliveryView | undefined)[] = [
    listed,
    await deliveries.get(id),
    // a parked delivery has no time and is not in the queue
    ...(reason === "ordering" ? [] : (await deliveries.retryQueue({ endpoint })).data),
  ];
  const until = afterMs === null ? null : expect.any(Date);
  const remedy = expect.stringMatching(/^[A-Z].*\.$/);
  const waitsFor = reason === null ? null : { reason, until, blockedBy: null, remedy };
  for (const view of views) {
    expect(view).toMatchObject({ id, waitsFor, nextRetryAt: until });
    if (afterMs === null) continue;
    expect(view?.nextRetryAt).toEqual(view?.waitsFor?.until);
    expect((view?.nextRetryAt?.getTime() ?? 0) - Date.now()).toBeGreaterThan(afterMs - 30_000);
    expect((view?.nextRetryAt?.getTime() ?? 0) - Date.now()).toBeLessThan(afterMs + 30_000);
  }
});

test("the remedy of an open circuit is a manual probe, and of a half-open one to wait", async () => {
  for (const [when, remedy] of [
    ["the circuit is open for a minute", /To probe now, retry a delivery\.$/],
    ["the circuit is half-open", /^The endpoint is being probed\..*No action is needed\.$/],
  ] as const) {
    const { id } = await failedDelivery(when);
    expect((await deliveries.get(id)).waitsFor?.remedy).toMatch(remedy);
  }
});

/** Deliveries of one subject to a `fifo` endpoint, by sequence. Only the first is not parked. */
async function subjectWith(count: number) {
  const { tenant, id: endpoint, uuid } = await newEndpoint();
  const ids: string[] = [];
  for (let sequence = 1; sequence <= count; sequence += 1) {
    const id = await world.addQueued(await world.addEvent(tenant), endpoint);
    await world.pool.query(
      `update posthorn.queue set subject = 'a', sequence = $2::bigint, next_at = case when $2::bigint = 1 then next_at else 'infinity' end
      where id = $1`,
      [id.slice(4), sequence],
    );
    ids.push(id);
  }
  return { tenant, endpoint, uuid, ids };
}

test("a delivery that is parked, or retried while it was, names the first delivery of its subject, queued or dead", async () => {
  const { uuid, ids } = await subjectWith(3);
  const [first = "", second = "", third = ""] = ids;
  const waitOf = async (id: string) => (await deliveries.get(id)).waitsFor;
  const blockedByFirst = {
    reason: "ordering",
    until: null,
    blockedBy: first,
    remedy: `${first} of the same subject has to end first. If it is dead, retry or delete it.`,
  };
  expect(await waitOf(second)).toEqual(blockedByFirst);
  expect(await waitOf(third)).toEqual(blockedByFirst);
  expect(await waitOf(first)).toBeNull();
  // due, until a worker parks it again
  expect(await requeueDelivery(world.db, third.slice(4))).toMatchObject({ kind: "queued" });
  expect(await waitOf(third)).toEqual(blockedByFirst);

  await world.pool.query("delete from posthorn.queue where id = $1", [first.slice(4)]);
  expect(await waitOf(second)).toMatchObject({ reason: "ordering", blockedBy: null });
  await world.pool.query(
    "insert into posthorn.held_subjects (endpoint_id, subject, sequence, delivery_id) values ($1, 'a', 1, $2), ($1, 'b', 1, $3)",
    [uuid, first.slice(4), third.slice(4)],
  );
  expect(await waitOf(second)).toEqual(blockedByFirst);
  expect(await waitOf(third)).toEqual(blockedByFirst);

  // another reason comes first
  await world.pool.query(situations["the endpoint is disabled"], [uuid]);
  expect(await waitOf(third)).toMatchObject({ reason: "endpoint_disabled", blockedBy: null });
});

test("the first delivery of a subject is found without reading its backlog", async () => {
  const { endpoint, uuid, ids } = await subjectWith(2);
  await world.addBacklog(endpoint, 20_000, Date.now() - HOUR_MS);
  await world.pool.query(
    `update posthorn.queue q set subject = 'a', sequence = n.sequence + 2, next_at = 'infinity'
    from (select id, row_number() over (order by id) as sequence from posthorn.queue where endpoint_id = $1 and subject is null) n
    where q.id = n.id`,
    [uuid],
  );
  await world.pool.query("update posthorn.queue set sequence = 30000 where id = $1", [ids[1]?.slice(4)]);
  const read = await rowsRead(world.db, "queue", async (db) => {
    const found = await createDeliveries({ db, catalogue: world.catalogue }).get(ids[1] ?? "");
    expect(found.waitsFor).toMatchObject({ reason: "ordering", blockedBy: ids[0] });
  });
  expect(read).toBeLessThan(20);
});

test("a pending delivery waits like a failed one, and has no retry", async () => {
  const { tenant, id: endpoint, uuid } = await newEndpoint();
  const id = await world.addQueued(await world.addEvent(tenant), endpoint);
  await world.pool.query(situations["the circuit is open for a minute"], [uuid]);
  expect(await deliveries.get(id)).toMatchObject({
    state: "pending",
    nextRetryAt: null,
    waitsFor: { reason: "circuit", until: expect.any(Date) },
  });
});

test("of the deliveries that the owner of a limited lane has claimed, those wait that it does not send", async () => {
  const { tenant, id: endpoint, uuid } = await newEndpoint();
  await world.pool.query(situations["the lane is at its rate"], [uuid]);
  const { rows } = await world.pool.query("select owner from posthorn.lanes where endpoint_id = $1", [uuid]);
  const claimedBy = rows[0].owner as number;
  const sent = await world.addQueued(await world.addEvent(tenant), endpoint, { claimedBy });
  const held = await world.addQueued(await world.addEvent(tenant), endpoint, { claimedBy });
  const ofAnother = await world.addQueued(await world.addEvent(tenant), endpoint, {
    claimedBy: claimedBy + 1_000,
  });
  await world.pool.query("update posthorn.lanes set sending = array[$2::uuid] where endpoint_id = $1", [
    uuid,
    sent.slice(4),
  ]);
  const { data } = await deliveries.list({ tenant });
  const reasons = new Map(data.map(({ id, state, waitsFor }) => [id, `${state} ${waitsFor?.reason}`]));
  expect(reasons.get(sent)).toBe("in_flight undefined");
  expect(reasons.get(held)).toBe("in_flight rate_limit");
  expect(reasons.get(ofAnother)).toBe("in_flight undefined");
});

test("a delivery that is being sent or finished waits for nothing", async () => {
  const { tenant, id: endpoint, uuid } = await newEndpoint();
  await world.addQueued(await world.addEvent(tenant), endpoint, { claimedBy: 1 });
  await world.addEnded(await world.addEvent(tenant), endpoint, "success");
  await world.addEnded(await world.addEvent(tenant), endpoint, "dead", "rejected");
  await world.pool.query(situations["the circuit is open for a minute"], [uuid]);
  const { data } = await deliveries.list({ tenant });
  expect(data.map(({ state }) => state).toSorted()).toEqual(["dead", "in_flight", "success"]);
  for (const { waitsFor, nextRetryAt } of data) expect([waitsFor, nextRetryAt]).toEqual([null, null]);
});

test("a page reads only its own rows of a long queue, twice", async () => {
  const { tenant, id: endpoint, uuid } = await newEndpoint();
  await world.pool.query(situations["the circuit is open for two hours"], [uuid]);
  const beginMs = Date.now() - HOUR_MS;
  for (let n = 0; n < 20; n += 1)
    await world.addQueued(await world.addEvent(tenant, { atMs: beginMs + n }), endpoint);
  const { id: busy } = await newEndpoint();
  await world.addBacklog(busy, 20_000, beginMs - HOUR_MS);
  const read = await rowsRead(world.db, "queue", async (db) => {
    const { data } = await createDeliveries({ db, catalogue: world.catalogue }).list({ tenant, limit: 20 });
    expect(data.map(({ waitsFor }) => waitsFor?.reason)).toEqual(Array(20).fill("circuit"));
  });
  expect(read).toBeLessThan(100);
});

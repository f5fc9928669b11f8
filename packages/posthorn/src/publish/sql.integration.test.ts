// The SQL functions that other languages call, besides posthorn.publish: for a user, and several events at once.
import { describe, expect, test } from "vitest";
import { databasePerTest, receiverPerFile } from "../../../../tests/support/database/database-per-test.ts";
import { inTransaction } from "../../../../tests/support/database/postgres.ts";
import type { TestInstance } from "../testing/index.ts";
import { MAX_TENANTS_OF_USER } from "./user-event.ts";

const receiver = await receiverPerFile();
const world = databasePerTest();

async function query<Row>(sql: string, ...values: unknown[]): Promise<Row[]> {
  return (await world.pool.query(sql, values)).rows as Row[];
}

interface Published {
  readonly tenant: string;
  readonly id: string;
  readonly sequence: string | null;
  readonly duplicate: boolean;
}

describe("publish_for_user", () => {
  /** Anna is a member of acme and beta, and of one that is inactive. */
  async function openWithUser(): Promise<TestInstance> {
    const instance = await world.open();
    const { tenants, members, endpoints } = instance.hooks;
    for (const tenant of ["acme", "beta", "idle"]) {
      await tenants.upsert(tenant, {});
      await members.put(tenant, "anna", { role: "member" });
      await endpoints.create(tenant, { url: `${receiver.url}/${tenant}`, events: ["*"] });
    }
    await tenants.upsert("idle", { isActive: false });
    return instance;
  }

  test("publishes one event for each active tenant of the user, with the bytes of the text", async () => {
    const instance = await openWithUser();
    const rows = await query<Published>(
      `select * from posthorn.publish_for_user('anna', 'user.invited', '{"by":  1.0}', subject => 'anna')`,
    );
    expect(rows).toEqual([
      { tenant: "acme", id: expect.stringMatching(/^evt_/), sequence: "1", duplicate: false },
      { tenant: "beta", id: expect.stringMatching(/^evt_/), sequence: "1", duplicate: false },
    ]);
    await instance.settle();
    for (const [index, path] of ["/acme", "/beta"].entries()) {
      const [request] = receiver.requestsTo(path);
      expect(String(request?.body)).toContain('"data":{"by":  1.0}');
      expect(String(request?.body)).toContain(rows[index]?.id);
    }
    expect(receiver.requestsTo("/idle")).toHaveLength(0);
    expect(await query(`select * from posthorn.publish_for_user('nobody', 'user.invited', '1')`)).toEqual([]);
  });

  test("shares idempotency keys with the library, per tenant", async () => {
    const { hooks } = await openWithUser();
    const first = await hooks.publish({
      user: "anna",
      type: "user.invited",
      data: { by: 1 },
      idempotencyKey: "k",
    });
    await hooks.tenants.upsert("idle", { isActive: true });
    const again = await query<Published>(
      `select * from posthorn.publish_for_user('anna', 'user.invited', '{"by":1}', idempotency_key => 'k')`,
    );
    expect(again.map(({ tenant, duplicate }) => [tenant, duplicate])).toEqual([
      ["acme", true],
      ["beta", true],
      ["idle", false],
    ]);
    expect(again.slice(0, 2).map(({ id }) => id)).toEqual(first.events.map(({ id }) => id));
  });

  test("takes jsonb, and is part of the caller's transaction", async () => {
    await openWithUser();
    const undone = inTransaction(world.pool, async (tx) => {
      await tx.query(
        `select * from posthorn.publish_for_user('anna', 'user.invited', '{"b":1, "a":2}'::jsonb)`,
      );
      throw new Error("roll back");
    });
    await expect(undone).rejects.toThrow("roll back");
    expect(await world.countRows("events", "outbox")).toEqual([0, 0]);
  });

  test.each([
    ["'a b', 'user.invited', '1'", "invalid_user"],
    ["null, 'user.invited', '1'", "invalid_user"],
    ["'anna', 'User', '1'", "invalid_type"],
    ["'anna', 'user.invited', '{'", "invalid_data"],
  ])("of (%s) has the hint %s, and publishes nothing", async (args, hint) => {
    await openWithUser();
    await expect(query(`select * from posthorn.publish_for_user(${args}::text)`)).rejects.toMatchObject({
      code: "PH422",
      hint,
    });
    expect(await world.countRows("events")).toEqual([0]);
  });

  test("reaches at most the maximum of tenants", async () => {
    await world.open({ started: false });
    const fill = (from: number, to: number) =>
      query(
        `with made as (
           insert into posthorn.tenants (id) select 'tenant-' || n from generate_series($1::int, $2::int) n returning id
         )
         insert into posthorn.members (tenant, user_id, role) select id, 'anna', 'member' from made`,
        from,
        to,
      );
    const publish = () => query(`select * from posthorn.publish_for_user('anna', 'user.invited', '1')`);
    await fill(1, MAX_TENANTS_OF_USER);
    expect(await publish()).toHaveLength(MAX_TENANTS_OF_USER);
    await fill(MAX_TENANTS_OF_USER + 1, MAX_TENANTS_OF_USER + 1);
    await expect(publish()).rejects.toMatchObject({ code: "PH422", hint: "too_many_tenants" });
  });
});

describe("publish_many", () => {
  const publishMany = (events: unknown, type = "text") =>
    query<Published>(
      `select * from posthorn.publish_many($1::${type})`,
      typeof events === "string" ? events : JSON.stringify(events),
    );
  const paid = { tenant: "acme", type: "order.paid", data: 1 };

  test("publishes the events in the order of the array, with the bytes of their data", async () => {
    const instance = await world.open();
    await instance.hooks.endpoints.create("acme", { url: `${receiver.url}/many`, events: ["*"] });
    const rows = await publishMany(
      `[{"tenant":"acme","type":"order.paid","data": {"n": 1.0, "big": 12345678901234567890},"subject":"s"},
        {"tenant":"acme","type":"order.sent","data":["\\u0000\\ud800","\\\\u0041\\u005cu0041"],"subject":"\\u0073","api_version":"2","idempotency_key":"k"},
        {"tenant":"acme","type":"order.sent","data":["\\u0000\\ud800","\\\\u0041\\u005cu0041"],"subject":"s","api_version":"2","idempotency_key":"k"},
        {"tenant":"acme","type":"order.done","data":null,"subject":null}]`,
    );
    expect(rows.map(({ sequence, duplicate }) => [sequence, duplicate])).toEqual([
      ["1", false],
      ["2", false],
      ["2", true],
      [null, false],
    ]);
    expect(rows[2]?.id).toBe(rows[1]?.id);
    const events = await Promise.all(rows.map(({ id }) => instance.hooks.events.get(id)));
    expect(events.map(({ type, apiVersion, payload }) => [type, apiVersion, String(payload)])).toEqual([
      ["order.paid", "1", '{"n": 1.0, "big": 12345678901234567890}'],
      ["order.sent", "2", String.raw`["\u0000\ud800","\\u0041\u005cu0041"]`],
      ["order.sent", "2", String.raw`["\u0000\ud800","\\u0041\u005cu0041"]`],
      ["order.done", "1", "null"],
    ]);
    await instance.settle();
    expect(receiver.requestsTo("/many")).toHaveLength(3);
  });

  test("takes jsonb, and an empty array", async () => {
    await world.open({ started: false });
    expect(await publishMany([paid], "jsonb")).toMatchObject([{ duplicate: false }]);
    expect(await publishMany([])).toEqual([]);
  });

  test.each<[events: unknown, hint: string, message: RegExp]>([
    ["{", "invalid_events", /not a JSON array/],
    ["{}", "invalid_events", /not a JSON array/],
    [[paid, 1], "invalid_events", /event 1 \(counted from 0\): it is not an object/],
    [[{ ...paid, apiVersion: "1" }], "invalid_events", /event 0 .* no field "apiVersion"/],
    [[paid, paid, { ...paid, subject: 1 }], "invalid_events", /event 2 .* subject must be a string/],
    [[paid, { ...paid, subject: "\u0000" }], "invalid_events", /event 1 /],
    [[paid, { ...paid, tenant: undefined }], "invalid_tenant", /event 1 .*: tenant must be/],
    [[paid, { ...paid, data: undefined }], "invalid_data", /event 1 .*: data is missing/],
    [[paid, { ...paid, type: "webhook.x" }], "invalid_type", /event 1 /],
  ])("of %j has the hint %s, the place of the event, and publishes none", async (events, hint, message) => {
    await world.open({ started: false });
    await expect(publishMany(events)).rejects.toMatchObject({
      code: "PH422",
      hint,
      message: expect.stringMatching(message),
    });
    expect(await world.countRows("events", "outbox")).toEqual([0, 0]);
  });

  test("takes at most 500 events", async () => {
    await world.open({ started: false });
    expect(await publishMany(Array(500).fill(paid))).toHaveLength(500);
    await expect(publishMany(Array(501).fill(paid))).rejects.toMatchObject({ hint: "invalid_events" });
    await expect(query("select * from posthorn.publish_many(null::text)")).rejects.toMatchObject({
      hint: "invalid_events",
    });
  });
});

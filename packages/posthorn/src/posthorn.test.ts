// Input that is rejected without a database, and errors when the database is unavailable.
import { expect, onTestFinished, test } from "vitest";
import { createPosthorn } from "./posthorn.ts";
import type { Posthorn } from "./public-types.ts";
import { isUnavailable } from "./storage/database.ts";

const event = { tenant: "acme", type: "order.paid", data: 1 };
const client = { query: async () => ({ rows: [] }) };

/** No server listens on port 1. */
function withoutDatabase(): Posthorn {
  const hooks = createPosthorn({ database: "postgresql://127.0.0.1:1/none", encryptionKeys: key });
  onTestFinished(() => hooks.stop());
  return hooks;
}

const key = `k1:${Buffer.alloc(32).toString("base64")}`;

type Call = (hooks: Posthorn) => Promise<unknown>;

test.each<
  [
    method: "publish" | "publishStatement" | "publishMany" | "start" | "stop" | "migrate",
    input: unknown[],
    says: string,
  ]
>([
  ["publish", [event, { transaction: client }], 'publish has no option "transaction". Expected one of: tx.'],
  ["publish", [event, client], "write publish(event, { tx: client })"],
  ["publish", [event, null], 'publish has no option "null"'],
  ["publish", [event, () => {}], "publish has no option"],
  ["publishStatement", [{ user: "u", type: "order.paid", data: 1 }], "publish(event, { tx })"],
  ["publishStatement", [event, { tx: client }], "an event of one tenant and no options"],
  ["publishMany", [[event], { tx: client }], "call publish(event, { tx }) for each event"],
  ["start", [{ rol: "api" }], 'start has no option "rol". Did you mean role?'],
  ["start", [{ role: "wrker" }], 'role must be one of all, api, worker; it is the string "wrker".'],
  ["start", ["api"], 'start has no option "api": pass an object'],
  ["stop", [{ grace: 1 }], 'stop has no option "grace". Expected one of: graceMs.'],
  [
    "stop",
    [{ graceMs: Number.POSITIVE_INFINITY }],
    "graceMs must be a number from 0 to 2147483647; it is Infinity.",
  ],
  ["migrate", [{ dryrun: true }], 'migrate has no option "dryrun". Did you mean dryRun?'],
  ["migrate", [{ dryRun: "true" }], 'dryRun must be true or false; it is the string "true".'],
])("%s(...%j) is rejected", async (method, input, says) => {
  const call = withoutDatabase()[method] as (...input: unknown[]) => Promise<unknown>;
  const error = { code: "invalid_config", message: expect.stringContaining(says) };
  await expect(call(...input)).rejects.toMatchObject(error);
});

test("an undefined tx is rejected, and the event is not published", async () => {
  await expect(withoutDatabase().publish(event, { tx: undefined as never })).rejects.toMatchObject({
    code: "not_a_transaction",
    message: expect.stringContaining("Pass the transaction, or leave tx out."),
  });
});

test("a Sequelize instance is no transaction, also before start()", async () => {
  const sequelize = { getQueryInterface: () => ({}) };
  await expect(withoutDatabase().publish(event, { tx: sequelize as never })).rejects.toMatchObject({
    code: "not_a_transaction",
    message: expect.stringContaining("nothing was stored. Pass the transaction of sequelize.transaction("),
  });
});

const calls: readonly [what: string, call: Call][] = [
  ["migrate", (hooks) => hooks.migrate()],
  ["migrationStatus", (hooks) => hooks.migrationStatus()],
  ["start", (hooks) => hooks.start()],
  ["publish", (hooks) => hooks.publish(event)],
  ["tenants.upsert", (hooks) => hooks.tenants.upsert("acme")],
  ["endpoints.list", (hooks) => hooks.endpoints.list("acme")],
  ["events.list", (hooks) => hooks.events.list()],
  ["deliveries.retry", (hooks) => hooks.deliveries.retry("dlv_0198c2f0-0000-7000-8000-000000000000")],
  ["meta.get", (hooks) => hooks.meta.get("name")],
];

test.each(calls)(
  "%s reports that the database is unavailable, and why, until stop()",
  async (_what, call) => {
    const hooks = withoutDatabase();
    const error = (await call(hooks).catch((reason) => reason)) as Error;
    expect(error).toMatchObject({
      name: "PosthornError",
      code: "database_unavailable",
      status: 503,
      cause: { code: "ECONNREFUSED" },
    });
    expect(error.message).not.toContain("127.0.0.1");
    expect(isUnavailable(error)).toBe(true);
    await hooks.stop();
    await expect(call(hooks)).rejects.toMatchObject({ code: "stopped", status: 503 });
  },
);

test.each<[input: unknown, says: string, pointer: string | undefined]>([
  [event, "publishMany takes a list of events. Publish one with publish(event).", undefined],
  [[event, { user: "u", type: "order.paid", data: 1 }], "Publish for a user with publish(event)", "/1/user"],
])("publishMany(%j) says what to call instead", async (input, says, pointer) => {
  await expect(withoutDatabase().publishMany(input as never)).rejects.toMatchObject({
    code: "invalid_event",
    message: expect.stringContaining(says),
    problems: pointer === undefined ? [] : [{ pointer }],
  });
});

test("publishMany returns an error for each event when the database is unavailable", async () => {
  const outcomes = await withoutDatabase().publishMany([event, event]);
  expect(outcomes).toMatchObject([
    { ok: false, error: { code: "database_unavailable" } },
    { ok: false, error: { code: "database_unavailable" } },
  ]);
});

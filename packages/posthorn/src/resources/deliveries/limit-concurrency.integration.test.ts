// Publishing during many hanging calls, on real PostgreSQL.
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { createMigratedDatabase } from "../../../../../tests/support/database/postgres.ts";
import { createTestInstance } from "../../testing/index.ts";

test("more hanging calls than connections do not block publishing", async () => {
  const database = await createMigratedDatabase();
  const holder = new pg.Client(database.connectionString);
  const { hooks } = await createTestInstance({ database: database.connectionString });
  await hooks.tenants.upsert("acme");
  await hooks.tenants.upsert("held");
  await holder.connect();
  onTestFinished(async () => {
    await holder.end();
    await hooks.stop({ graceMs: 0 });
    await database.drop();
  });
  await holder.query("begin");
  await holder.query("select from posthorn.tenants where id = 'held' for update");
  let ended = 0;
  const call = async (): Promise<void> => {
    await hooks.tenants.upsert("held", { name: "Held" });
    ended += 1;
  };
  const calls = Promise.all(Array.from({ length: 40 }, call));
  const { id } = await hooks.publish({ tenant: "acme", type: "order.paid", data: {} });
  expect({ id, ended }).toEqual({ id: expect.stringMatching(/^evt_/), ended: 0 });
  await holder.query("rollback");
  await calls;
  expect(ended).toBe(40);
});

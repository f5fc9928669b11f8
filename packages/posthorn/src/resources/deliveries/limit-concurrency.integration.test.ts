// Publishing during many hanging calls, on real PostgreSQL.
import { expect, test } from "vitest";
import { databasePerTest } from "../../../../../tests/support/database/database-per-test.ts";

const world = databasePerTest();

test("more hanging calls than connections do not block publishing", async () => {
  const { hooks } = await world.open();
  await hooks.tenants.upsert("held");
  const holder = await world.pool.connect();
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
  holder.release();
  await calls;
  expect(ended).toBe(40);
});

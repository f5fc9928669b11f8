// Publishing during many hanging calls, on real PostgreSQL.
import { expect, test } from "vitest";
import { databasePerTest } from "../../../../../tests/support/database/database-per-test.ts";
import { eventually } from "../../../../../tests/support/eventually.ts";
import { gate } from "../../../../../tests/support/gate.ts";
import type { Resolve } from "../../attempt/guard/resolve-name.ts";

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

test("more silent name servers than calls may run at once do not delay other calls", async () => {
  const { opened, open } = gate();
  let asked = 0;
  const resolve: Resolve = async () => {
    asked += 1;
    await opened;
    return [{ address: "93.184.215.14", family: 4 }];
  };
  const { hooks } = await world.open({ resolve });
  await hooks.tenants.upsert("slow");
  const url = (index: number) => `https://h${index}.example.com/in`;
  const creating = Array.from({ length: 10 }, (_, index) =>
    hooks.endpoints.create("slow", { url: url(index), events: ["*"] }),
  );
  await eventually("all names are being resolved", () => asked === creating.length);
  expect((await hooks.tenants.get("slow")).id).toBe("slow");
  open();
  expect((await Promise.all(creating)).flatMap(({ warnings }) => warnings)).toEqual([]);
});

import { expect, test } from "vitest";
import { databasePerTest } from "../../../../tests/support/database/database-per-test.ts";

const world = databasePerTest();

test("instances that are opened on one database at the same time share a clock", async () => {
  const instances = await Promise.all(Array.from({ length: 8 }, () => world.open()));
  await instances[0]?.advance(60_000);
  const { rows } = await world.pool.query(
    "select round(extract(epoch from posthorn.now() - now())) as ahead from posthorn.test_clock",
  );
  expect(rows).toEqual([{ ahead: "60" }]);
});

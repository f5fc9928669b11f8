// What workers tell each other, with a real LISTEN.
import { once } from "node:events";
import { expect, test } from "vitest";
import { databasePerTest } from "../../../../tests/support/database-per-test.ts";
import { silentLogger } from "../observe/log.ts";
import { commonChannel } from "../storage/queries/workers/hints.ts";
import { Hints } from "./hints.ts";

const world = databasePerTest();

test("a worker that stops still tells of the lanes it has just left, and the others need not find them by looking", async () => {
  const { hooks } = await world.open({ started: false });
  const channel = commonChannel(hooks.db.schema);
  const listener = await world.pool.connect();
  try {
    await listener.query(`listen "${channel}"`);
    const heard = once(listener, "notification");
    const hints = new Hints(hooks.db, silentLogger);
    hints.notifyAll();
    await hints.stop();
    expect(await heard).toEqual([expect.objectContaining({ channel })]);
  } finally {
    listener.release(true);
  }
});

// Notifications between workers, with a real LISTEN.
import { once } from "node:events";
import { expect, test } from "vitest";
import { databasePerTest } from "../../../../tests/support/database/database-per-test.ts";
import { silentLogger } from "../observe/log.ts";
import { commonChannel } from "../storage/queries/workers/hints.ts";
import { Hints } from "./hints.ts";

const world = databasePerTest();

test("a stopping worker notifies the others of the lanes it released", async () => {
  const { hooks } = await world.open({ started: false });
  const channel = commonChannel(hooks.db.schema);
  const listener = await world.pool.connect();
  try {
    await listener.query(`listen "${channel}"`);
    const notified = once(listener, "notification");
    const hints = new Hints(hooks.db, silentLogger);
    hints.notifyAll();
    await hints.stop();
    expect(await notified).toEqual([expect.objectContaining({ channel })]);
  } finally {
    listener.release(true);
  }
});

// Notifications between workers, with a real LISTEN.
import { once } from "node:events";
import { uuidv7 } from "@posthorn/wire";
import { expect, test } from "vitest";
import { databasePerTest } from "../../../../tests/support/database/database-per-test.ts";
import { silentLogger } from "../observe/log.ts";
import { commonChannel, workerChannel } from "../storage/queries/workers/hints.ts";
import { Hints } from "./hints.ts";

const world = databasePerTest();

test("a stopping worker notifies the others of the lanes it released", async () => {
  const { hooks } = await world.open({ started: false });
  const channel = commonChannel(hooks.db.schema);
  const listener = await world.pool.connect();
  try {
    await listener.query(`listen "${channel}"`);
    const notified = once(listener, "notification");
    const hints = new Hints(hooks.db, silentLogger, { notifyDue: () => false });
    hints.notifyAll();
    await hints.stop();
    expect(await notified).toEqual([expect.objectContaining({ channel })]);
  } finally {
    listener.release(true);
  }
});

test("a worker of this machine is notified over its socket, and another one by the database", async () => {
  const { hooks } = await world.open({ started: false });
  const listener = await world.pool.connect();
  try {
    for (const id of [1, 2]) await listener.query(`listen "${workerChannel(hooks.db.schema, id)}"`);
    const notified = once(listener, "notification");
    const [near, far] = [uuidv7(), uuidv7()];
    const overSockets: unknown[] = [];
    const notifyDue = (workerId: number, endpointIds: readonly string[]): boolean => {
      if (workerId === 1) overSockets.push(endpointIds);
      return workerId === 1;
    };
    const hints = new Hints(hooks.db, silentLogger, { notifyDue });
    hints.notifyOwner(1, near);
    hints.notifyOwner(2, far);
    await hints.stop();
    expect(await notified).toEqual([
      expect.objectContaining({ channel: workerChannel(hooks.db.schema, 2), payload: far }),
    ]);
    expect(overSockets).toEqual([[near]]);
  } finally {
    listener.release(true);
  }
});

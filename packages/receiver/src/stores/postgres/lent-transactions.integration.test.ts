// A handler's `tx` by every library: whole while its turn lasts, refused afterwards, when the connection is another event's.
import { createReceiver, type Store, standardWebhooks } from "@posthorn/receiver";
import { describe, expect, test } from "vitest";
import {
  openDrizzle,
  openKnex,
  openKysely,
  openPool,
  openPostgres,
  openPrisma,
  type PostgresWorld,
} from "../../../../../tests/support/receiver/postgres-world.ts";
import { NOW, secret, signedDelivery } from "../../../../../tests/support/receiver/signed-delivery.ts";

function receiverOn<Tx>(store: Store<Tx>, failures: unknown[] = []) {
  return createReceiver({
    sources: [standardWebhooks({ secrets: [secret] })],
    store,
    clock: () => NOW,
    onFailure: ({ error }) => failures.push(error),
  });
}

describe("a handler's tx works in its turn, and is refused after it", () => {
  const byPg = openPostgres(openPool);
  const byDrizzle = openPostgres(openDrizzle);
  const byKysely = openPostgres(openKysely);
  const byKnex = openPostgres(openKnex);
  const byPrisma = openPostgres(openPrisma);

  test("by pg", async () => holds(await byPg()));
  test("by Drizzle", async () => holds(await byDrizzle()));
  test("by Kysely", async () => holds(await byKysely()));
  test("by Knex", async () => holds(await byKnex()));
  test("by Prisma", async () => holds(await byPrisma()));

  async function holds<Tx>({ store, execute, effects }: PostgresWorld<Tx>): Promise<void> {
    const receiver = receiverOn(store);
    let kept: Tx | undefined;
    receiver.fallback(async (_, { tx }) => {
      kept = tx;
      await execute(tx, "insert into effects (effect) values ('in time')");
    });
    expect((await receiver.receive(await signedDelivery())).status).toBe(200);
    const late = async () => await execute(kept as Tx, "insert into effects (effect) values ('late')");
    await expect(late()).rejects.toThrow("The handler has ended, and so has its transaction");
    expect(await effects?.read()).toEqual(["in time"]);
  }

  test("a handler that releases the connection of pg fails: another event would get it in mid-transaction", async () => {
    const { store, effects } = await byPg();
    const failures: unknown[] = [];
    const receiver = receiverOn(store, failures);
    receiver.fallback(async (_, { tx }) => {
      await tx.query("insert into effects (effect) values ('half')");
      tx.release();
    });
    expect((await receiver.receive(await signedDelivery())).status).toBe(500);
    expect(failures).toMatchObject([{ message: expect.stringContaining("A handler called tx.release()") }]);
    expect(await effects?.read()).toEqual([]);
  });
});

// A worker whose process has ended is recognised by its closed socket and its ended session, long before its lease expires.
import { randomBytes } from "node:crypto";
import { createServer, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { databasePerTest } from "../../../../tests/support/database/database-per-test.ts";
import { createPool } from "../../../../tests/support/database/postgres.ts";
import { eventually } from "../../../../tests/support/eventually.ts";

const world = databasePerTest();

/** An instance, and the socket of another worker whose lease has just been renewed, for an hour. */
async function openBesideAnother() {
  const { hooks } = await world.open();
  const { rows: own } = await world.pool.query("select socket from posthorn.workers");
  const path = own[0].socket.replace(/[0-9a-f]+\.sock$/, `${randomBytes(8).toString("hex")}.sock`);
  const server = createServer().listen(path);
  onTestFinished(() => void server.close());
  // a process that only checks whether the socket is in use sends no greeting
  const greeted = new Promise<Socket>((resolve) => {
    server.on("connection", (socket) => socket.once("data", () => resolve(socket)));
  });
  const { rows } = await world.pool.query(
    `insert into posthorn.workers (lease_expires_at, holds_liveness_lock, name, socket)
     values (now() + interval '1 hour', true, 'another', $1) returning id`,
    [path],
  );
  const socket = await greeted;
  const id: number = rows[0].id;
  const isRegistered = async () =>
    (await world.pool.query("select from posthorn.workers where id = $1", [id])).rowCount === 1;
  return { worker: hooks.engine?.worker, id, isRegistered, leave: () => socket.destroy() };
}

test("a worker without a session is reaped as soon as it closes its socket", async () => {
  const { leave, isRegistered } = await openBesideAnother();
  expect(await isRegistered()).toBe(true);
  leave();
  await eventually("it is reaped", async () => !(await isRegistered()));
});

test("a worker with a session is not reaped because it closes its socket", async () => {
  const { worker, id, leave, isRegistered } = await openBesideAnother();
  const session = createPool(world.connectionString, { max: 1 });
  onTestFinished(() => session.end());
  await session.query("select pg_advisory_lock(hashtext('posthorn worker posthorn'), $1)", [id]);
  leave();
  await eventually("it is connected to again", async () => {
    await worker?.renew();
    return true;
  });
  expect(await isRegistered()).toBe(true);
});

// Deleting dead letters by a filter over HTTP and on the command line.
import { expect, test } from "vitest";
import { useCommandServer } from "../../../../../../tests/support/servers/run-command.ts";
import { startReceiver } from "../../../../../../tests/support/servers/start-receiver.ts";

const { server, posthorn } = useCommandServer();
const path = "/api/v1/dead-letters/delete";

/** A tenant with as many dead letters. */
async function withDead(count: number): Promise<string> {
  const receiver = await startReceiver();
  receiver.answer("/in", 400);
  const { tenant } = await server.newEndpoint({ url: `${receiver.url}/in` });
  await server.call("POST", "/api/v1/events", Array(count).fill({ tenant, type: "order.paid", data: 1 }));
  await expect.poll(() => deadOf(tenant)).toBe(count);
  return tenant;
}

async function deadOf(tenant: string): Promise<number> {
  return (await server.call("GET", `/api/v1/deliveries?tenant=${tenant}&state=dead`)).json.data.length;
}

test("a key of a tenant deletes only its tenant's dead letters, and the audit log counts them", async () => {
  const [tenant, other] = [await withDead(2), await withDead(1)];
  const headers = await server.keyHeaders(["deliveries:retry"], tenant);
  const counted = await server.call("POST", path, { dry_run: true }, headers);
  expect([counted.status, counted.json]).toEqual([
    200,
    { dry_run: true, count: 2, is_exact: true, dead_before: expect.stringMatching(/^20.*Z$/) },
  ]);
  expect((await server.call("POST", path, { tenant: other }, headers)).status).toBe(403);
  const { dead_before } = counted.json;
  const deleted = await server.call("POST", path, { dead_before, type: "order.paid" }, headers);
  expect([deleted.status, deleted.json]).toEqual([200, { deleted: 2, next_cursor: null }]);
  expect([await deadOf(tenant), await deadOf(other)]).toEqual([0, 1]);
  const { json: log } = await server.call(
    "GET",
    `/api/v1/audit-log?tenant=${tenant}&action=deliveries.deleteDead`,
  );
  expect(log.data).toMatchObject([
    { changes: { dead_before, type: "order.paid" }, status: 200, affected: 2 },
    { changes: { tenant: other }, status: 403, affected: null },
    { changes: { dry_run: true }, status: 200, affected: null },
  ]);
});

test("deleting needs a body and the scope deliveries:retry", async () => {
  const tenant = await withDead(1);
  const headers = await server.keyHeaders(["deliveries:read"], tenant);
  expect((await server.call("POST", path, {}, headers)).status).toBe(403);
  expect((await server.call("POST", path)).status).toBe(415);
  expect((await server.call("POST", path, { tenant, state: "dead" })).status).toBe(422);
  expect(await deadOf(tenant)).toBe(1);
});

test("the command counts first, and deletes what it counted", async () => {
  const tenant = await withDead(3);
  const counted = await posthorn`deliveries delete-dead --tenant ${tenant} --dry-run`;
  expect(counted.out).toBe("Dead letters to delete permanently: 3.\n");
  expect((await posthorn`deliveries delete-dead --tenant ${tenant} --until 1h --yes`).out).toBe(
    "0 dead letters were deleted.\n",
  );
  expect((await posthorn`deliveries delete-dead --tenant ${tenant} --json`).json).toEqual({ deleted: 3 });
  expect(await deadOf(tenant)).toBe(0);
});

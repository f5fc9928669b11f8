// Events published from SQL that the catalogue rejected, over HTTP and on the command line.
import { expect, test } from "vitest";
import { createPool } from "../../../../../../tests/support/database/postgres.ts";
import { eventually } from "../../../../../../tests/support/eventually.ts";
import { useCommandServer } from "../../../../../../tests/support/servers/run-command.ts";
import { startReceiver } from "../../../../../../tests/support/servers/start-receiver.ts";

const { server, posthorn } = useCommandServer();
const EVENTS = "/api/v1/events";

/** Publishes an event of a new tenant whose data violates its schema, and waits until it is rejected. */
async function rejectOne() {
  const receiver = await startReceiver();
  const { tenant } = await server.newEndpoint({ url: `${receiver.url}/in` });
  const schema = { properties: { amount: { type: "integer" } } };
  await server.call("PUT", "/api/v1/event-types/order.paid", { schema });
  const pool = createPool(server.connectionString);
  const { rows } = await pool.query(
    `select posthorn.publish(tenant => $1, type => 'order.paid', data => '{"amount":"1"}'::text) as id`,
    [tenant],
  );
  await pool.end();
  const id = rows[0].id as string;
  const path = `${EVENTS}/${id}`;
  await eventually("it is rejected", async () => (await server.call("GET", path)).json.rejection !== null);
  return { receiver, tenant, id, path };
}

test("a rejected event is listed with its reason, released and delivered", async () => {
  const { receiver, tenant, id, path } = await rejectOne();
  const rejection = {
    code: "invalid_event",
    pointer: "/data/amount",
    message: expect.stringContaining("must be integer"),
    rejected_at: expect.any(String),
    discarded_at: null,
  };
  const list = await server.call("GET", `${EVENTS}?tenant=${tenant}&state=rejected`);
  expect(list.json.data).toMatchObject([{ id, rejection }]);
  expect((await server.call("GET", path)).json).toMatchObject({
    rejection,
    deliveries: [],
    not_matched: [{ reason: "rejected" }],
  });
  expect((await server.call("GET", "/api/v1/system")).json.backlog.rejected).toBeGreaterThan(0);
  const released = await server.call("POST", `${path}/release`);
  expect([released.status, released.json]).toEqual([200, { id, rejection: null }]);
  await receiver.received(1);
  for (const change of ["release", "discard"]) {
    const again = await server.call("POST", `${path}/${change}`);
    expect([again.status, again.json.code]).toEqual([409, "event_not_rejected"]);
  }
  expect((await server.call("GET", `${EVENTS}?state=failed`)).json).toMatchObject({ status: 422 });
});

test("deciding needs the scope events:publish, for this tenant", async () => {
  const { tenant, path } = await rejectOne();
  const other = await server.newTenant();
  for (const [scopes, of, status] of [
    [["deliveries:read", "deliveries:retry"], tenant, 403],
    [["events:publish"], other, 404],
    [["events:publish"], tenant, 200],
  ] as const) {
    const headers = await server.keyHeaders(scopes, of);
    expect((await server.call("POST", `${path}/discard`, undefined, headers)).status).toBe(status);
  }
});

test("the command line lists, explains, discards and releases it", async () => {
  const { receiver, tenant, id } = await rejectOne();
  const list = await posthorn`events list --state rejected --tenant ${tenant}`;
  expect(list.out).toMatch(/REJECTED\n/);
  expect(list.out).toContain(id);
  for (const command of ["trace", "events get"]) {
    const { out } = await posthorn`${command.split(" ")} ${id}`;
    expect(out).toContain('The catalogue rejected it: "/data/amount" must be integer');
    expect(out).toContain(`posthorn events release ${id}`);
    expect(out).toContain(`posthorn events discard ${id}`);
  }
  expect((await posthorn`events discard ${id}`).out).toContain(`${id} is discarded.`);
  expect((await posthorn`trace ${id}`).out).toContain("It was discarded at ");
  expect((await posthorn`events list --state rejected --tenant ${tenant}`).out).not.toContain(id);
  expect(await posthorn`events release ${id} --json`).toMatchObject({
    code: 0,
    json: { id, rejection: null },
  });
  await receiver.received(1);
  expect((await posthorn`events release ${id}`).code).not.toBe(0);
  expect((await posthorn`events list --state failed`).code).not.toBe(0);
});

test("a key of a tenant decides by filter about its events only, and the audit log counts them", async () => {
  const { tenant, id, path } = await rejectOne();
  const other = await rejectOne();
  const headers = await server.keyHeaders(["events:publish"], tenant);
  const discard = "/api/v1/rejected-events/discard";
  const counted = await server.call("POST", discard, { dry_run: true }, headers);
  expect([counted.status, counted.json]).toEqual([
    200,
    { dry_run: true, count: 1, is_exact: true, rejected_before: expect.stringMatching(/^20.*Z$/) },
  ]);
  expect((await server.call("POST", discard, { tenant: other.tenant }, headers)).status).toBe(403);
  const { rejected_before } = counted.json;
  const discarded = await server.call("POST", discard, { rejected_before, type: "order.paid" }, headers);
  expect([discarded.status, discarded.json]).toEqual([200, { discarded: 1, next_cursor: null }]);
  expect((await server.call("GET", path)).json.rejection.discarded_at).not.toBeNull();
  expect((await server.call("GET", other.path)).json.rejection.discarded_at).toBeNull();
  const readers = await server.keyHeaders(["deliveries:read", "deliveries:retry"], tenant);
  expect((await server.call("POST", discard, {}, readers)).status).toBe(403);
  expect((await server.call("POST", discard, { state: "rejected" }, headers)).status).toBe(422);
  const { json: log } = await server.call(
    "GET",
    `/api/v1/audit-log?tenant=${tenant}&action=events.discardRejected`,
  );
  expect(log.data).toMatchObject([
    { changes: { rejected_before, type: "order.paid" }, status: 200, affected: 1 },
    { changes: { tenant: other.tenant }, status: 403, affected: null },
    { changes: { dry_run: true }, status: 200, affected: null },
  ]);
  const released = await server.call("POST", "/api/v1/rejected-events/release", { tenant });
  expect(released.json).toEqual({ released: 0, next_cursor: null });
  await server.call("POST", `${EVENTS}/${id}/release`);
});

test("the command line counts rejected events first, and decides about what it counted", async () => {
  const { receiver, tenant, id } = await rejectOne();
  const counted = await posthorn`events release-rejected --tenant ${tenant} --dry-run`;
  expect(counted.out).toBe("Rejected events to release: 1.\n");
  expect((await posthorn`events discard-rejected --tenant ${tenant} --type order.sent --yes`).out).toBe(
    "0 rejected events were discarded.\n",
  );
  expect((await posthorn`events release-rejected --tenant ${tenant} --json`).json).toEqual({ released: 1 });
  await receiver.received(1);
  expect((await server.call("GET", `${EVENTS}/${id}`)).json.rejection).toBeNull();
});

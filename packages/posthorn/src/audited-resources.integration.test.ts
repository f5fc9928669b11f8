// Changes through the library in the audit log.
import { expect, test } from "vitest";
import { databasePerTest } from "../../../tests/support/database/database-per-test.ts";

const world = databasePerTest();
const hook = { url: "https://hooks.example.com/in?token=planted", events: ["*"] };

test("changes are recorded with the actor of the instance or of the call, and without secrets", async () => {
  const { hooks } = await world.open({ actor: "billing" });
  await hooks.tenants.upsert("acme", { name: "Acme" });
  const input = { ...hook, headers: { "X-Token": "planted" } };
  await expect(hooks.endpoints.create("acme", { ...input, timeoutMs: -1 })).rejects.toThrow();
  const { endpoint, secret } = await hooks.endpoints.create("acme", { ...input, timeoutMs: 5_000 });
  const rotated = await hooks.as("anna").endpoints.rotateSecret("acme", endpoint.id, { overlapSeconds: 60 });
  const { data } = await hooks.auditLog.list({ tenant: "acme" });
  const actor = { actorKind: "library", actorUser: null, actorTenant: null, requestId: null, address: null };
  expect(data.slice(0, 4)).toMatchObject([
    {
      ...actor,
      actorId: "anna",
      action: "endpoints.rotateSecret",
      target: { tenant: "acme", endpoint: endpoint.id },
      changes: { overlap_seconds: 60 },
      status: 200,
    },
    {
      ...actor,
      actorId: "billing",
      action: "endpoints.create",
      target: { tenant: "acme", created: endpoint.id },
      changes: { url: "https://hooks.example.com/in?…", headers: { "X-Token": "…" }, timeout_ms: 5_000 },
      status: 200,
    },
    { action: "endpoints.create", status: 422, errorCode: "invalid_endpoint" },
    { action: "tenants.put", target: { tenant: "acme" }, changes: { name: "Acme" } },
  ]);
  const shown = JSON.stringify(data);
  for (const text of ["planted", secret, rotated.secret]) expect(shown).not.toContain(text);
});

test("the entry of a delivery and a replay has its tenant, and one of a call for a tenant has that", async () => {
  const { hooks } = await world.open({ enabled: false });
  await hooks.tenants.upsert("acme");
  await hooks.endpoints.create("acme", hook);
  const { id } = await hooks.publish({ tenant: "acme", type: "order.paid", data: {} });
  const [delivery] = (await hooks.events.get(id)).deliveries;
  await hooks.deliveries.cancel(delivery?.id ?? "");
  await hooks.deliveries.retry(delivery?.id ?? "", { tenant: "acme" });
  const startAt = new Date(Date.now() + 86_400_000);
  const replay = await hooks.replays.start({ tenant: "acme", createdAfter: new Date(0), startAt });
  await hooks.replays.cancel(replay.id);
  const { data } = await hooks.auditLog.list({ tenant: "acme" });
  expect(data.slice(0, 4)).toMatchObject([
    { action: "replays.cancel", target: { replay: replay.id } },
    {
      action: "replays.start",
      changes: { tenant: "acme", created_after: "1970-01-01T00:00:00.000Z" },
      target: { created: replay.id },
    },
    { action: "deliveries.retry", target: { delivery: delivery?.id }, changes: { tenant: "acme" } },
    { action: "deliveries.cancel", target: { delivery: delivery?.id } },
  ]);
});

test("reads, publishing, and changes inside of others leave no entry of their own", async () => {
  const { hooks } = await world.open();
  await hooks.tenants.upsert("acme");
  const { endpoint } = await hooks.endpoints.create("acme", hook);
  await hooks.publish({ tenant: "acme", type: "order.paid", data: {} });
  await hooks.endpoints.list("acme");
  await hooks.endpoints.disable("acme", endpoint.id);
  await hooks.endpoints.enable("acme", endpoint.id, { backlog: "discard" });
  const { data } = await hooks.auditLog.list();
  expect(data.slice(0, 4).map(({ action }) => action)).toEqual([
    "endpoints.enable",
    "endpoints.disable",
    "endpoints.create",
    "tenants.put",
  ]);
});

test("without an entry nothing is changed", async () => {
  const { hooks } = await world.open();
  await world.pool.query("alter table posthorn.audit_log add check (false) not valid");
  await expect(hooks.tenants.upsert("unaudited")).rejects.toThrow("audit_log");
  await expect(hooks.tenants.get("unaudited")).rejects.toMatchObject({ code: "tenant_not_found" });
});

test("an actor has 1 to 200 characters, none of them a control character", async () => {
  const { hooks } = await world.open();
  expect(() => hooks.as("a".repeat(200))).not.toThrow();
  for (const actor of ["", "a".repeat(201), "a\nb", 7 as never])
    expect(() => hooks.as(actor)).toThrow("actor must be 1 to 200 characters without control characters");
  await expect(world.open({ actor: "" })).rejects.toThrow("actor must be");
});

test("input that cannot be stored as it is leaves an entry", async () => {
  const { hooks } = await world.open();
  const circular: Record<string, unknown> = { name: "\u0000\ud800" };
  circular.self = circular;
  await expect(hooks.tenants.upsert("acme", circular)).rejects.toThrow();
  await expect(hooks.tenants.upsert(undefined as never)).rejects.toThrow();
  const { data } = await hooks.auditLog.list();
  expect(data.slice(0, 2)).toMatchObject([
    { target: { tenant: "undefined" }, status: 422 },
    { target: { tenant: "acme" }, status: 422 },
  ]);
});

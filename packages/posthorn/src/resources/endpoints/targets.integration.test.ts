import { expect, test } from "vitest";
import { defaults, openResources } from "../../../../../tests/support/resources.ts";
import { WEBHOOK } from "../../destinations/webhook/webhook.ts";
import { generateEncryptionKey, parseKeyRing } from "../../storage/key-ring.ts";
import { createTargets } from "./targets.ts";

const world = await openResources();
const { tenants, endpoints, targets } = world;
const hook = { url: "https://example.com/hooks", events: ["order.*"] };

test("a tenant's targets include inactive endpoints but not deleted ones", async () => {
  await tenants.upsert("t1");
  const { endpoint: active, secret } = await endpoints.create("t1", {
    ...hook,
    timeoutMs: 700,
    headers: { "X-A": "b" },
  });
  const { endpoint: inactive } = await endpoints.create("t1", { ...hook, isActive: false });
  const { endpoint: deleted } = await endpoints.create("t1", hook);
  await endpoints.delete("t1", deleted.id);

  const found = (await targets.ofTenants(["t1"])).get("t1");
  expect(found).toMatchObject({ version: await world.routingVersion("t1"), isActive: true });
  expect(found?.targets.map(({ endpointId, isActive }) => [endpointId, isActive])).toEqual([
    [active.id.slice(3), true],
    [inactive.id.slice(3), false],
  ]);
  expect(found?.targets[0]).toMatchObject({
    endpointId: active.id.slice(3),
    tenant: "t1",
    version: 1,
    url: hook.url,
    isActive: true,
    events: hook.events,
    filter: null,
    health: null,
    destination: WEBHOOK,
    ...defaults,
    headers: { "X-A": "b" },
    timeoutMs: 700,
    rateLimit: null,
    ordering: "none",
    fifoOnDead: "pass",
    batch: { maxEvents: 100, maxBytes: 524_288, maxDelayMs: 1_000 },
    formatContext: { source: "/tenants/t1", datarefBase: "" },
    secrets: [{ value: secret, expiresAt: null }],
    authorization: null,
    allowedPerMinute: null,
  });
});

test("only changed targets are read again, with the same result", async () => {
  await tenants.upsert("t1b");
  const made = [];
  for (let count = 0; count < 4; count += 1) made.push((await endpoints.create("t1b", hook)).endpoint.id);
  const [same, changed, deleted, rotated] = made as [string, string, string, string];
  const before = (await targets.ofTenants(["t1b"])).get("t1b")?.targets ?? [];
  await endpoints.update("t1b", changed, { events: ["other.*"] });
  await endpoints.delete("t1b", deleted);
  await endpoints.rotateSecret("t1b", rotated);
  await endpoints.create("t1b", hook);

  const known = new Map([["t1b", before]]);
  const found = (await targets.ofTenants(["t1b", "t1"], known)).get("t1b");
  expect(found).toEqual((await targets.ofTenants(["t1b"])).get("t1b"));
  const taken = found?.targets
    .filter((target) => before.includes(target))
    .map(({ endpointId }) => endpointId);
  expect(taken).toEqual([same.slice(3)]);

  await tenants.upsert("t1b", { isActive: false });
  expect((await targets.ofTenants(["t1b"], known)).get("t1b")).toMatchObject({ isActive: false });
  const gone = new Map([["t1c", before]]);
  expect((await targets.ofTenants(["t1c"], gone)).get("t1c")).toEqual({
    version: 0,
    isActive: true,
    targets: [],
  });
});

test("an unknown tenant has version 0 and no targets", async () => {
  await tenants.upsert("t2");
  const found = await targets.ofTenants(["t2", "nobody", "nobody"]);
  expect(found.get("nobody")).toEqual({ version: 0, isActive: true, targets: [] });
  expect(found.get("t2")).toMatchObject({ isActive: true, targets: [] });
  expect(await targets.ofTenants([])).toEqual(new Map());
});

test("the targets of an inactive tenant are not active", async () => {
  await tenants.upsert("t3");
  const { endpoint } = await endpoints.create("t3", hook);
  await tenants.upsert("t3", { isActive: false });
  expect((await targets.ofTenants(["t3"])).get("t3")).toMatchObject({ isActive: false });
  const id = endpoint.id.slice(3);
  expect((await targets.byIds([id])).get(id)).toMatchObject({ isActive: false, version: 2 });
});

test("a deleted or unknown target is null", async () => {
  const unknown = "0198c2f0-0000-7000-8000-000000000000";
  expect(await targets.byIds([unknown])).toEqual(new Map([[unknown, null]]));
});

test("a process without the key can read routes, and fails the check before it delivers", async () => {
  await tenants.upsert("t4");
  await endpoints.create("t4", hook);
  await targets.checkKeys();
  for (const keyRing of [parseKeyRing(undefined), parseKeyRing(generateEncryptionKey("other"))]) {
    const without = createTargets({ db: world.db, keyRing, defaults });
    expect((await without.ofTenants(["t4"])).get("t4")?.targets).toHaveLength(1);
    await expect(without.checkKeys()).rejects.toMatchObject({ code: "encryption_key_missing" });
  }
  const sameIdOtherKey = createTargets({
    db: world.db,
    keyRing: parseKeyRing(generateEncryptionKey()),
    defaults,
  });
  await expect(sameIdOtherKey.checkKeys()).rejects.toMatchObject({ code: "secret_unreadable" });
});

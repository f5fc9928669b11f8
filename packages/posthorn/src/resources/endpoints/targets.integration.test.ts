import { expect, test } from "vitest";
import { defaults, openResources } from "../../../../../tests/support/database/resources.ts";
import { WEBHOOK } from "../../destinations/webhook/webhook.ts";
import type { Target } from "../../model.ts";
import { generateEncryptionKey, type KeyRing, parseKeyRing } from "../../storage/key-ring.ts";
import { createTargets } from "./targets.ts";

const world = await openResources();
const { tenants, endpoints, newEndpoint, targets } = world;

test("a tenant's targets include inactive endpoints but not deleted ones", async () => {
  const active = await newEndpoint({ events: ["order.*"], timeoutMs: 700, headers: { "X-A": "b" } });
  const { tenant } = active;
  const inactive = await newEndpoint({ isActive: false }, tenant);
  await endpoints.delete(tenant, (await newEndpoint({}, tenant)).id);

  const found = (await targets.ofTenants([tenant])).get(tenant);
  expect(found).toMatchObject({ version: await world.routingVersion(tenant), isActive: true });
  expect(found?.targets.map(({ endpointId, isActive }) => [endpointId, isActive])).toEqual([
    [active.uuid, true],
    [inactive.uuid, false],
  ]);
  expect(found?.targets[0]).toMatchObject({
    tenant,
    version: 1,
    url: active.endpoint.url,
    events: ["order.*"],
    destination: WEBHOOK,
    ...defaults,
    headers: { "X-A": "b" },
    timeoutMs: 700,
    formatContext: { source: `/tenants/${tenant}`, datarefBase: "" },
    secrets: [{ value: active.secret, expiresAt: null }],
    authorization: null,
  });
});

test("only changed targets are read again, with the same result", async () => {
  const tenant = await world.newTenant();
  const [same, changed, deleted, rotated] = [
    await newEndpoint({}, tenant),
    await newEndpoint({}, tenant),
    await newEndpoint({}, tenant),
    await newEndpoint({}, tenant),
  ];
  const read = async (known?: ReadonlyMap<string, readonly Target[]>) =>
    (await targets.ofTenants([tenant], known)).get(tenant);
  const before = (await read())?.targets ?? [];
  await endpoints.update(tenant, changed.id, { events: ["other.*"] });
  await endpoints.delete(tenant, deleted.id);
  await endpoints.rotateSecret(tenant, rotated.id);
  await newEndpoint({}, tenant);

  const known = new Map([[tenant, before]]);
  const found = await read(known);
  expect(found).toEqual(await read());
  const kept = found?.targets.filter((target) => before.includes(target));
  expect(kept?.map(({ endpointId }) => endpointId)).toEqual([same.uuid]);

  await tenants.upsert(tenant, { isActive: false });
  expect(await read(known)).toMatchObject({ isActive: false });
  expect((await targets.byIds([same.uuid])).get(same.uuid)).toMatchObject({ isActive: false, version: 2 });
  expect((await targets.ofTenants(["nobody"], new Map([["nobody", before]]))).get("nobody")).toEqual({
    version: 0,
    isActive: true,
    targets: [],
  });
});

test("a process without the key can read routes, and fails the check before it delivers", async () => {
  const { tenant } = await newEndpoint();
  await targets.checkKeys();
  const withKey = (keyRing: KeyRing) => createTargets({ db: world.db, keyRing, defaults });
  for (const without of [parseKeyRing(undefined), parseKeyRing(generateEncryptionKey("other"))].map(
    withKey,
  )) {
    expect((await without.ofTenants([tenant])).get(tenant)?.targets).toHaveLength(1);
    await expect(without.checkKeys()).rejects.toMatchObject({ code: "encryption_key_missing" });
  }
  const sameIdOtherKey = withKey(parseKeyRing(generateEncryptionKey()));
  await expect(sameIdOtherKey.checkKeys()).rejects.toMatchObject({ code: "secret_unreadable" });
});

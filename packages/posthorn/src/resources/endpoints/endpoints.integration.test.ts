import { generateSecret, generateSigningKey } from "@posthorn/wire";
import { expect, test } from "vitest";
import { defaults, openResources, readPages } from "../../../../../tests/support/database/resources.ts";
import { cancelForDeletedEndpoints } from "../../storage/queries/queue/cancel.ts";

const world = await openResources();
const { tenants, newTenant, newEndpoint, endpoints, targets, pool } = world;
const hook = { url: "https://example.com/hooks", events: ["*"] };

async function validSecrets(uuid: string) {
  return (await targets.byIds([uuid])).get(uuid)?.secrets ?? [];
}

async function secretsOf(uuid: string): Promise<string[]> {
  return (await validSecrets(uuid)).map(({ value }) => value);
}

test("a new endpoint has the deployment's settings, and its secret is returned once", async () => {
  const { tenant, endpoint, secret, uuid } = await newEndpoint();
  const { formatContext: _, ...inForce } = defaults;

  expect(endpoint).toEqual({
    id: expect.stringMatching(/^ep_/),
    tenant,
    ...hook,
    name: "example.com",
    description: null,
    filter: null,
    isActive: true,
    disabledReason: null,
    disabledAt: null,
    authorization: null,
    handshake: null,
    ...inForce,
    ordering: "none",
    fifoOnDead: "pass",
    circuit: "closed",
    health: {
      consecutiveFailures: 0,
      failingSince: null,
      lastError: null,
      probeAt: null,
      throttledUntil: null,
      currentMaxInFlight: 5,
      lastDay: null,
    },
    websub: null,
    createdAt: expect.any(Date),
    updatedAt: expect.any(Date),
  });
  expect(secret).toMatch(/^whsec_/);
  expect(await secretsOf(uuid)).toEqual([secret]);
  expect(JSON.stringify(await endpoints.get(tenant, endpoint.id))).not.toContain(secret);
});

test("without a name an endpoint has the host of its URL, also after the URL has changed", async () => {
  const { tenant, endpoint } = await newEndpoint({ url: "https://example.com:8443/a" });
  expect(endpoint.name).toBe("example.com:8443");
  const nameAfter = async (patch: object) => (await endpoints.update(tenant, endpoint.id, patch)).name;
  // what was read is written back with another URL
  expect(await nameAfter({ url: "https://example.org/a", name: endpoint.name })).toBe("example.org");
  expect(await nameAfter({ name: "example.org" })).toBe("example.org");
  expect(await nameAfter({ url: "https://example.net/a" })).toBe("example.net");
  expect(await nameAfter({ name: " Billing " })).toBe("Billing");
  expect(await nameAfter({ url: "https://example.com/a" })).toBe("Billing");
  expect(await nameAfter({ name: null })).toBe("example.com");
});

test("endpoints are searched by a part of their name or URL, but not of its query", async () => {
  const url = "https://shop.example.com/In?token=s3cret";
  const { tenant, endpoint: named } = await newEndpoint({ name: "Billing 100%", url });
  await newEndpoint({ url: "https://other.example.com/" }, tenant);
  const found = async (search: string) =>
    (await endpoints.list(tenant, { search })).data.map(({ name }) => name);
  for (const search of ["billing", "100%", "shop", "/in", named.id])
    expect(await found(search)).toEqual([named.name]);
  for (const search of ["s3cret", "shop_example", "b%g"]) expect(await found(search)).toEqual([]);
  expect(await found("EXAMPLE.COM")).toHaveLength(2);
});

test("an endpoint's own settings are stored and returned", async () => {
  const input = {
    url: "https://example.com/a?b=c#d",
    events: ["order.*", "invoice.paid"],
    description: "Billing",
    isActive: false,
    format: "data",
    signature: { headerPrefix: "X-Acme" },
    headers: { "X-Team": "billing" },
    timeoutMs: 2_500,
    maxInFlight: 2,
    retryPolicy: "200ms,1s",
    retryOn: "every",
    ordering: "fifo",
    fifoOnDead: "hold",
  } as const;
  const { tenant, endpoint, id } = await newEndpoint(input);
  expect(endpoint).toMatchObject({
    ...input,
    url: "https://example.com/a?b=c",
    signature: { schemes: defaults.signature.schemes, headerPrefix: "X-Acme" },
    retryPolicy: { kind: "gaps", gapsMs: [200, 1_000] },
    disabledReason: "manual",
    disabledAt: expect.any(Date),
  });
  expect(await endpoints.get(tenant, id)).toEqual(endpoint);
  expect(await world.lane(id)).toEqual({ owner: null, paused: true, is_ready: false });
});

test("a secret is encrypted at rest, and a ciphertext copied to another endpoint is not used", async () => {
  const mine = await newEndpoint();
  const { tenant } = mine;
  const other = await newEndpoint({}, tenant);
  const { rows } = await pool.query("select ciphertext from posthorn.endpoint_secrets");
  for (const { ciphertext } of rows)
    expect(ciphertext.toString("latin1")).not.toContain(mine.secret.slice(6));

  await pool.query(
    `update posthorn.endpoint_secrets
     set ciphertext = (select ciphertext from posthorn.endpoint_secrets where endpoint_id = $1)
     where endpoint_id = $2`,
    [mine.uuid, other.uuid],
  );
  await expect(secretsOf(other.uuid)).rejects.toMatchObject({ code: "secret_unreadable" });
  // and only that endpoint is affected
  expect((await targets.ofTenants([tenant])).get(tenant)?.targets).toHaveLength(2);
  await endpoints.rotateSecret(tenant, other.id, { overlapSeconds: 0 });
  expect(await secretsOf(other.uuid)).toHaveLength(1);
});

test("twenty concurrent creations with a limit of ten give ten endpoints, and deleting one allows another", async () => {
  const tenant = await newTenant();
  const create = () => endpoints.create(tenant, hook);
  const full = { code: "endpoint_limit_reached", status: 409 };
  const made = await Promise.allSettled(Array.from({ length: 20 }, create));
  const refused = made.filter((result) => result.status === "rejected");
  expect(refused.map(({ reason }) => reason)).toMatchObject(Array(10).fill(full));

  const pages = await readPages((cursor) => endpoints.list(tenant, { limit: 4, cursor }));
  const ids = pages.flat().map(({ id }) => id);
  expect(pages.map(({ length }) => length)).toEqual([4, 4, 2]);
  expect(ids, "newest first").toEqual(ids.toSorted().reverse());
  await expect(create()).rejects.toMatchObject(full);
  await endpoints.delete(tenant, ids[0] ?? "");
  await create();
  await expect(create()).rejects.toMatchObject(full);
});

test("every change increments the versions of endpoint and tenant, and notifies the lane's owner", async () => {
  const { tenant, id, uuid } = await newEndpoint();
  await pool.query("update posthorn.lanes set owner = 42 where endpoint_id = $1", [uuid]);
  for (const step of [
    () => endpoints.update(tenant, id, { description: "x" }),
    () => endpoints.rotateSecret(tenant, id),
    () => endpoints.disableAfter(uuid, "gone"),
    () => endpoints.delete(tenant, id),
  ]) {
    const before = await versions();
    const reported = world.changes.length;
    await step();
    expect(await versions()).toEqual({ endpoint: before.endpoint + 1, routing: before.routing + 1 });
    expect(world.changes.slice(reported)).toContainEqual({ endpointId: uuid, owner: 42 });
  }

  async function versions() {
    const { rows } = await pool.query("select version from posthorn.endpoints where id = $1", [uuid]);
    return { endpoint: Number(rows[0].version), routing: await world.routingVersion(tenant) };
  }
});

test("an endpoint created or enabled in an inactive tenant stays paused", async () => {
  const tenant = await newTenant();
  await tenants.upsert(tenant, { isActive: false });
  const { id } = await newEndpoint({}, tenant);
  await endpoints.update(tenant, id, { isActive: true });
  expect(await world.lane(id)).toMatchObject({ paused: true });
});

test("deleting an endpoint makes its queued deliveries dead, also later ones, not those in flight", async () => {
  const { tenant, id, uuid } = await newEndpoint();
  const { id: other } = await newEndpoint({}, tenant);
  const [event, flying, later] = [
    await world.addEvent(tenant),
    await world.addEvent(tenant),
    await world.addEvent(tenant),
  ];
  const queued = await world.addQueued(event, id, { failures: 2 });
  const inFlight = await world.addQueued(flying, id, { claimedBy: 9 });
  const others = await world.addQueued(event, other);
  await endpoints.delete(tenant, id);

  const dead = { state: "dead", deadReason: "endpoint_deleted" };
  expect(await world.deliveries.get(queued)).toMatchObject({ ...dead, attemptCount: 2 });
  expect(await world.deliveries.get(inFlight)).toMatchObject({ state: "in_flight" });
  expect(await world.lane(id)).toMatchObject({ paused: true });
  await expect(endpoints.get(tenant, id)).rejects.toMatchObject({ code: "endpoint_not_found" });
  expect((await endpoints.list(tenant)).data.map((endpoint) => endpoint.id)).toEqual([other]);
  expect((await targets.byIds([uuid])).get(uuid)).toBeNull();
  const { rows } = await pool.query("select from posthorn.endpoint_secrets where endpoint_id = $1", [uuid]);
  expect(rows).toHaveLength(0);

  const released = await world.addQueued(later, id);
  await cancelForDeletedEndpoints(world.db);
  expect(await world.deliveries.get(released)).toMatchObject(dead);
  expect(await world.deliveries.get(others)).toMatchObject({ state: "pending" });
});

test("after rotations all valid secrets sign, newest first, and no expiry is extended", async () => {
  const { tenant, id, uuid, secret: first } = await newEndpoint();
  const { secret: second, previousExpiresAt } = await endpoints.rotateSecret(tenant, id, {
    overlapSeconds: 60,
  });
  const { secret: third, previousExpiresAt: lastExpiresAt } = await endpoints.rotateSecret(tenant, id);
  expect(await secretsOf(uuid)).toEqual([third, second, first]);
  expect((await validSecrets(uuid))[2]?.expiresAt).toEqual(previousExpiresAt);
  expect(((lastExpiresAt?.getTime() ?? 0) - Date.now()) / 86_400_000).toBeCloseTo(7, 2);
});

test("no more than five secrets are valid at once, and revoking them all always works", async () => {
  const { tenant, id, uuid } = await newEndpoint();
  for (let n = 0; n < 4; n += 1) await endpoints.rotateSecret(tenant, id);
  await expect(endpoints.rotateSecret(tenant, id)).rejects.toMatchObject({
    code: "too_many_secrets",
    status: 409,
  });
  expect(await secretsOf(uuid)).toHaveLength(5);
  await endpoints.rotateSecret(tenant, id, { overlapSeconds: 0 });
  expect(await secretsOf(uuid)).toHaveLength(1);
});

test.each([
  ...[-1, 1_209_601, 0.5, "60"].map((overlapSeconds) => ({ overlapSeconds })),
  { overlap_seconds: 0 },
])("the rotation %j is refused, and the secret is unchanged", async (rotation) => {
  const { tenant, id, uuid, secret } = await newEndpoint();
  await expect(endpoints.rotateSecret(tenant, id, rotation as never)).rejects.toMatchObject({
    code: "invalid_endpoint",
    problems: [{ pointer: `/${Object.keys(rotation)[0]}` }],
  });
  expect(await secretsOf(uuid)).toEqual([secret]);
});

test("a given secret is used, and an endpoint changes to ed25519 without a gap", async () => {
  const own = generateSecret();
  const { tenant, id, uuid, secret } = await newEndpoint({ secret: own });
  expect(secret).toBe(own);
  const scheme = "standard-webhooks-v1a";
  const onlyV1a = { signature: { schemes: [scheme] } };
  await expect(endpoints.update(tenant, id, onlyV1a)).rejects.toMatchObject({
    problems: [{ pointer: "/signature/schemes" }],
  });

  await endpoints.update(tenant, id, { signature: { schemes: ["t-v1", scheme] } });
  expect(await secretsOf(uuid)).toEqual([expect.stringMatching(/^whsk_/), own]);
  const { signingKey } = await generateSigningKey();
  // it would sign nothing: the only scheme it could be used for has its own secret by now
  await expect(endpoints.rotateSecret(tenant, id, { secret: signingKey })).rejects.toMatchObject({
    problems: [{ pointer: "/secret", message: expect.stringContaining('does not fit "t-v1"') }],
  });
  await endpoints.rotateSecret(tenant, id, { secret: signingKey, scheme });
  expect(await endpoints.update(tenant, id, onlyV1a)).toMatchObject(onlyV1a);
  await expect(endpoints.rotateSecret(tenant, id)).rejects.toMatchObject({
    problems: [{ pointer: "/scheme" }],
  });
});

test("every requested scheme signs: key pairs are generated, other secrets are required", async () => {
  const both = { signature: { schemes: ["standard-webhooks", "standard-webhooks-v1a"] } };
  const { tenant, uuid, secret } = await newEndpoint(both);
  expect(await secretsOf(uuid)).toEqual([expect.stringMatching(/^whsk_/), secret]);
  expect(secret).toMatch(/^whsec_/);
  const onlyPair = { ...both, schemeSecrets: { "standard-webhooks": generateSecret() } };
  expect((await newEndpoint(onlyPair)).secret).toMatch(/^whsk_/);

  const text = { signature: { schemes: ["github"] }, secret: "of the old sender" };
  const standardToo = { signature: { schemes: ["github", "standard-webhooks"] } };
  await expect(newEndpoint({ ...text, ...standardToo })).rejects.toMatchObject({
    problems: [{ pointer: "/secret", message: expect.stringContaining("schemeSecrets") }],
  });
  const { id } = await newEndpoint(text, tenant);
  await expect(endpoints.update(tenant, id, standardToo)).rejects.toMatchObject({
    problems: [{ pointer: "/signature/schemes", message: expect.stringContaining("Rotate") }],
  });
  await endpoints.rotateSecret(tenant, id, { scheme: "standard-webhooks" });
  expect(await endpoints.update(tenant, id, standardToo)).toMatchObject(standardToo);
});

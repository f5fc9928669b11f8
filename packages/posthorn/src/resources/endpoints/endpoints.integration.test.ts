import { generateSecret, generateSigningKey } from "@posthorn/wire";
import { expect, test } from "vitest";
import { defaults, openResources } from "../../../../../tests/support/resources.ts";
import { cancelForDeletedEndpoints, cancelQueued } from "../../storage/queries/queue/cancel.ts";

const world = await openResources();
const { tenants, endpoints, targets, pool } = world;
const hook = { url: "https://example.com/hooks", events: ["*"] };

/** Each test has a tenant of its own. */
async function newTenant(): Promise<string> {
  const id = `tenant-${crypto.randomUUID()}`;
  await tenants.upsert(id);
  return id;
}

async function secretsOf(endpointId: string): Promise<string[]> {
  const found = await targets.byIds([endpointId.slice(3)]);
  return found.get(endpointId.slice(3))?.secrets.map(({ value }) => value) ?? [];
}

test("a new endpoint has the deployment's settings, and its secret is returned once", async () => {
  const tenant = await newTenant();
  const { endpoint, secret } = await endpoints.create(tenant, hook);
  const { formatContext: _, ...inForce } = defaults;

  expect(endpoint).toEqual({
    id: expect.stringMatching(/^ep_/),
    tenant,
    ...hook,
    description: null,
    filter: null,
    isActive: true,
    disabledReason: null,
    disabledAt: null,
    headers: {},
    authorization: null,
    handshake: null,
    ...inForce,
    rateLimit: null,
    ordering: "none",
    fifoOnDead: "pass",
    batch: { maxEvents: 100, maxBytes: 524_288, maxDelayMs: 1_000 },
    circuit: "closed",
    health: {
      consecutiveFailures: 0,
      failingSince: null,
      lastError: null,
      probeAt: null,
      throttledUntil: null,
      lastDay: null,
    },
    websub: null,
    createdAt: expect.any(Date),
    updatedAt: expect.any(Date),
  });
  expect(secret).toMatch(/^whsec_/);
  expect(await secretsOf(endpoint.id)).toEqual([secret]);
  expect(JSON.stringify(await endpoints.get(tenant, endpoint.id))).not.toContain(secret);
});

test("an endpoint's own settings are stored and returned", async () => {
  const tenant = await newTenant();
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
  const { endpoint } = await endpoints.create(tenant, input);
  const shown = {
    ...input,
    url: "https://example.com/a?b=c",
    signature: { schemes: defaults.signature.schemes, headerPrefix: "X-Acme" },
    retryPolicy: { kind: "gaps", gapsMs: [200, 1_000] },
    disabledReason: "manual",
    disabledAt: expect.any(Date),
  };
  expect(endpoint).toMatchObject(shown);
  expect(await endpoints.get(tenant, endpoint.id)).toEqual(endpoint);
  expect(await world.lane(endpoint.id)).toEqual({ owner: null, paused: true, is_ready: false });
});

test("a secret is encrypted at rest, and a ciphertext copied to another endpoint is not used", async () => {
  const tenant = await newTenant();
  const mine = await endpoints.create(tenant, hook);
  const other = await endpoints.create(tenant, hook);
  const { rows } = await pool.query("select ciphertext from posthorn.endpoint_secrets");
  for (const { ciphertext } of rows)
    expect(ciphertext.toString("latin1")).not.toContain(mine.secret.slice(6));

  await pool.query(
    `update posthorn.endpoint_secrets
     set ciphertext = (select ciphertext from posthorn.endpoint_secrets where endpoint_id = $1)
     where endpoint_id = $2`,
    [mine.endpoint.id.slice(3), other.endpoint.id.slice(3)],
  );
  await expect(secretsOf(other.endpoint.id)).rejects.toMatchObject({ code: "secret_unreadable" });
  // and only that endpoint is stopped
  const ofTenant = (await targets.ofTenants([tenant])).get(tenant);
  expect(ofTenant?.targets).toHaveLength(2);
  await endpoints.rotateSecret(tenant, other.endpoint.id, { overlapSeconds: 0 });
  expect(await secretsOf(other.endpoint.id)).toHaveLength(1);
});

test("an endpoint with ed25519 only gets a signing key", async () => {
  const tenant = await newTenant();
  const { secret } = await endpoints.create(tenant, {
    ...hook,
    signature: { schemes: ["standard-webhooks-v1a"] },
  });
  expect(secret).toMatch(/^whsk_/);
});

test("an endpoint of a tenant that does not exist is refused", async () => {
  await expect(endpoints.create("nobody", hook)).rejects.toMatchObject({ code: "tenant_not_found" });
  await expect(endpoints.list("nobody")).rejects.toMatchObject({ code: "tenant_not_found" });
});

test("another tenant's endpoint gives the same error as an unknown one", async () => {
  const [mine, theirs] = [await newTenant(), await newTenant()];
  const { endpoint } = await endpoints.create(theirs, hook);
  const unknown = "ep_0198c2f0-0000-7000-8000-000000000000";
  const calls = [
    (id: string) => endpoints.get(mine, id),
    (id: string) => endpoints.update(mine, id, { description: "x" }),
    (id: string) => endpoints.delete(mine, id),
    (id: string) => endpoints.rotateSecret(mine, id),
    (id: string) => endpoints.get("nobody", id),
    (id: string) => endpoints.update("nobody", id, {}),
  ];
  for (const call of calls) {
    const [a, b] = await Promise.all(
      [endpoint.id, unknown].map((id) => call(id).then(String, (error) => error)),
    );
    expect(a).toMatchObject({ code: "endpoint_not_found", status: 404 });
    expect(a.message.replace(endpoint.id, "…")).toBe(b.message.replace(unknown, "…"));
  }
  expect(await endpoints.get(theirs, endpoint.id)).toEqual(endpoint);
});

test("twenty concurrent creations with a limit of ten give ten endpoints, and deleting one allows another", async () => {
  const tenant = await newTenant();
  const made = await Promise.allSettled(Array.from({ length: 20 }, () => endpoints.create(tenant, hook)));
  const refused = made.filter((result) => result.status === "rejected");
  expect(refused).toHaveLength(10);
  for (const { reason } of refused)
    expect(reason).toMatchObject({ code: "endpoint_limit_reached", status: 409 });

  const { data } = await endpoints.list(tenant);
  expect(data).toHaveLength(10);
  await expect(endpoints.create(tenant, hook)).rejects.toMatchObject({ code: "endpoint_limit_reached" });
  await endpoints.delete(tenant, data[0]?.id ?? "");
  await endpoints.create(tenant, hook);
  await expect(endpoints.create(tenant, hook)).rejects.toMatchObject({ code: "endpoint_limit_reached" });
});

test("endpoints are listed newest first, a page at a time", async () => {
  const tenant = await newTenant();
  const ids: string[] = [];
  for (let n = 0; n < 5; n += 1) ids.unshift((await endpoints.create(tenant, hook)).endpoint.id);
  const first = await endpoints.list(tenant, { limit: 3 });
  const second = await endpoints.list(tenant, { limit: 3, cursor: first.nextCursor ?? "" });
  expect([...first.data, ...second.data].map(({ id }) => id)).toEqual(ids);
  expect(second.nextCursor).toBeNull();
});

test("every change increments the versions of endpoint and tenant, and notifies the lane's owner", async () => {
  const tenant = await newTenant();
  const { endpoint } = await endpoints.create(tenant, hook);
  const id = endpoint.id.slice(3);
  await pool.query("update posthorn.lanes set owner = 42 where endpoint_id = $1", [id]);
  const steps = [
    () => endpoints.update(tenant, endpoint.id, { description: "x" }),
    () => endpoints.rotateSecret(tenant, endpoint.id),
    () => endpoints.disableAfter(id, "gone"),
    () => endpoints.delete(tenant, endpoint.id),
  ];
  for (const step of steps) {
    const before = await versions();
    const told = world.changes.length;
    await step();
    expect(await versions()).toEqual({ endpoint: before.endpoint + 1, routing: before.routing + 1 });
    expect(world.changes.slice(told)).toContainEqual({ endpointId: id, owner: 42 });
  }

  async function versions() {
    const { rows } = await pool.query("select version from posthorn.endpoints where id = $1", [id]);
    return { endpoint: Number(rows[0].version), routing: await world.routingVersion(tenant) };
  }
});

test("an invalid change changes nothing and reports every problem", async () => {
  const tenant = await newTenant();
  const { endpoint } = await endpoints.create(tenant, hook);
  const version = await world.routingVersion(tenant);
  const patch = { url: "https://127.0.0.1/", timeoutMs: 0, description: "fine" };
  await expect(endpoints.update(tenant, endpoint.id, patch)).rejects.toMatchObject({
    code: "invalid_endpoint",
    problems: [{ pointer: "/url" }, { pointer: "/timeoutMs" }],
  });
  expect(await endpoints.get(tenant, endpoint.id)).toEqual(endpoint);
  expect(await world.routingVersion(tenant)).toBe(version);
});

test("null resets a setting to the deployment's", async () => {
  const tenant = await newTenant();
  const { endpoint } = await endpoints.create(tenant, { ...hook, timeoutMs: 500, headers: { "X-A": "b" } });
  const changed = await endpoints.update(tenant, endpoint.id, { timeoutMs: null, headers: null });
  expect(changed).toMatchObject({ timeoutMs: defaults.timeoutMs, headers: {} });
});

test("a disabled endpoint is paused with a reason, and enabling it makes its backlog ready", async () => {
  const tenant = await newTenant();
  const { endpoint } = await endpoints.create(tenant, hook);
  await world.addOwed(await world.addEvent(tenant), endpoint.id);
  expect(await endpoints.disableAfter(endpoint.id.slice(3), "gone")).toBe(true);
  expect(await endpoints.disableAfter(endpoint.id.slice(3), "failures")).toBe(false);

  const disabled = await endpoints.update(tenant, endpoint.id, { isActive: false });
  expect(disabled).toMatchObject({ isActive: false, disabledReason: "gone", disabledAt: expect.any(Date) });
  expect(await world.lane(endpoint.id)).toMatchObject({ paused: true });

  const enabled = await endpoints.update(tenant, endpoint.id, { isActive: true });
  expect(enabled).toMatchObject({ isActive: true, disabledReason: null, disabledAt: null });
  expect(await world.lane(endpoint.id)).toEqual({ owner: null, paused: false, is_ready: true });
});

test("an endpoint without a backlog is not ready when it is enabled", async () => {
  const tenant = await newTenant();
  const { endpoint } = await endpoints.create(tenant, { ...hook, isActive: false });
  await endpoints.update(tenant, endpoint.id, { isActive: true });
  expect(await world.lane(endpoint.id)).toEqual({ owner: null, paused: false, is_ready: false });
});

test("an endpoint created or enabled in an inactive tenant stays paused", async () => {
  const tenant = await newTenant();
  await tenants.upsert(tenant, { isActive: false });
  const { endpoint } = await endpoints.create(tenant, hook);
  await endpoints.update(tenant, endpoint.id, { isActive: true });
  expect(await world.lane(endpoint.id)).toMatchObject({ paused: true });
});

test("deleting an endpoint makes its queued deliveries dead, not those in flight", async () => {
  const tenant = await newTenant();
  const { endpoint } = await endpoints.create(tenant, hook);
  const { endpoint: other } = await endpoints.create(tenant, hook);
  const [event, flying] = [await world.addEvent(tenant), await world.addEvent(tenant)];
  const owed = await world.addOwed(event, endpoint.id, { failures: 2 });
  const inFlight = await world.addOwed(flying, endpoint.id, { claimedBy: 9 });
  const others = await world.addOwed(event, other.id);
  await endpoints.delete(tenant, endpoint.id);

  expect(await world.deliveries.get(owed)).toMatchObject({
    state: "dead",
    deadReason: "endpoint_deleted",
    attemptCount: 2,
  });
  expect(await world.deliveries.get(inFlight)).toMatchObject({ state: "in_flight" });
  expect(await world.deliveries.get(others)).toMatchObject({ state: "pending" });
  expect(await world.lane(endpoint.id)).toMatchObject({ paused: true });
  await expect(endpoints.get(tenant, endpoint.id)).rejects.toMatchObject({ code: "endpoint_not_found" });
  expect((await endpoints.list(tenant)).data.map(({ id }) => id)).toEqual([other.id]);
  expect((await targets.byIds([endpoint.id.slice(3)])).get(endpoint.id.slice(3))).toBeNull();
  const { rows } = await pool.query("select from posthorn.endpoint_secrets where endpoint_id = $1", [
    endpoint.id.slice(3),
  ]);
  expect(rows).toHaveLength(0);
});

test("a delivery released to the queue of a deleted endpoint is found and ended", async () => {
  const tenant = await newTenant();
  const { endpoint } = await endpoints.create(tenant, hook);
  const { endpoint: alive } = await endpoints.create(tenant, hook);
  const event = await world.addEvent(tenant);
  await endpoints.delete(tenant, endpoint.id);
  const late = await world.addOwed(event, endpoint.id);
  const owed = await world.addOwed(event, alive.id);
  await cancelForDeletedEndpoints(world.db);
  expect(await world.deliveries.get(late)).toMatchObject({ state: "dead", deadReason: "endpoint_deleted" });
  expect(await world.deliveries.get(owed)).toMatchObject({ state: "pending" });
});

test("a backlog larger than one step is cancelled completely", async () => {
  const tenant = await newTenant();
  const { endpoint } = await endpoints.create(tenant, hook);
  await pool.query(
    `insert into posthorn.queue (id, event_id, endpoint_id, next_at, schedule_started_at)
     select gen_random_uuid(), gen_random_uuid(), $1, now(), now() from generate_series(1, 12001)`,
    [endpoint.id.slice(3)],
  );
  expect(await cancelQueued(world.db, [endpoint.id.slice(3)], "discarded")).toBe(12_001);
});

test("after a rotation both secrets sign until the old one expires, newest first", async () => {
  const tenant = await newTenant();
  const { endpoint, secret: first } = await endpoints.create(tenant, hook);
  const { secret: second, previousExpiresAt } = await endpoints.rotateSecret(tenant, endpoint.id);
  expect(await secretsOf(endpoint.id)).toEqual([second, first]);
  const days = ((previousExpiresAt?.getTime() ?? 0) - Date.now()) / 86_400_000;
  expect(days).toBeCloseTo(7, 2);
});

test("a second rotation keeps valid secrets without extending their expiry", async () => {
  const tenant = await newTenant();
  const { endpoint, secret: first } = await endpoints.create(tenant, hook);
  const { secret: second, previousExpiresAt } = await endpoints.rotateSecret(tenant, endpoint.id, {
    overlapSeconds: 60,
  });
  const { secret: third } = await endpoints.rotateSecret(tenant, endpoint.id, { overlapSeconds: 3_600 });
  const target = (await targets.byIds([endpoint.id.slice(3)])).get(endpoint.id.slice(3));
  expect(target?.secrets.map(({ value }) => value)).toEqual([third, second, first]);
  expect(target?.secrets[2]?.expiresAt).toEqual(previousExpiresAt);
});

test("an overlap of 0 revokes all previous secrets at once", async () => {
  const tenant = await newTenant();
  const { endpoint } = await endpoints.create(tenant, hook);
  await endpoints.rotateSecret(tenant, endpoint.id);
  const { secret, previousExpiresAt } = await endpoints.rotateSecret(tenant, endpoint.id, {
    overlapSeconds: 0,
  });
  expect(previousExpiresAt).toBeNull();
  expect(await secretsOf(endpoint.id)).toEqual([secret]);
});

test("an expired secret is not used", async () => {
  const tenant = await newTenant();
  const { endpoint, secret: first } = await endpoints.create(tenant, hook);
  const { secret: second } = await endpoints.rotateSecret(tenant, endpoint.id);
  expect(await secretsOf(endpoint.id)).toContain(first);
  await pool.query(
    "update posthorn.endpoint_secrets set expires_at = now() - interval '1 second' where expires_at is not null",
  );
  expect(await secretsOf(endpoint.id)).toEqual([second]);
});

test("no more than five secrets are valid at once, and revoking them all always works", async () => {
  const tenant = await newTenant();
  const { endpoint } = await endpoints.create(tenant, hook);
  for (let n = 0; n < 4; n += 1) await endpoints.rotateSecret(tenant, endpoint.id);
  await expect(endpoints.rotateSecret(tenant, endpoint.id)).rejects.toMatchObject({
    code: "too_many_secrets",
    status: 409,
  });
  expect(await secretsOf(endpoint.id)).toHaveLength(5);
  await endpoints.rotateSecret(tenant, endpoint.id, { overlapSeconds: 0 });
  expect(await secretsOf(endpoint.id)).toHaveLength(1);
});

test.each([-1, 1_209_601, 0.5, "60"])("an overlap of %s seconds is refused", async (overlapSeconds) => {
  const tenant = await newTenant();
  const { endpoint } = await endpoints.create(tenant, hook);
  const rotation = { overlapSeconds: overlapSeconds as number };
  await expect(endpoints.rotateSecret(tenant, endpoint.id, rotation)).rejects.toMatchObject({
    code: "invalid_endpoint",
    problems: [{ pointer: "/overlapSeconds" }],
  });
});

test("a misspelt overlap is refused, and the secret is unchanged", async () => {
  const tenant = await newTenant();
  const { endpoint, secret } = await endpoints.create(tenant, hook);
  const rotation = { overlap_seconds: 0 } as never;
  await expect(endpoints.rotateSecret(tenant, endpoint.id, rotation)).rejects.toMatchObject({
    code: "invalid_endpoint",
    message: 'A rotation has no option "overlap_seconds". Did you mean overlapSeconds?',
    problems: [{ pointer: "/overlap_seconds" }],
  });
  expect(await secretsOf(endpoint.id)).toEqual([secret]);
});

test("a given secret is used, and an endpoint changes to ed25519 without a gap", async () => {
  const tenant = await newTenant();
  const own = generateSecret();
  const { endpoint, secret } = await endpoints.create(tenant, { ...hook, secret: own });
  expect(secret).toBe(own);
  const onlyV1a = { signature: { schemes: ["standard-webhooks-v1a"] } };
  await expect(endpoints.update(tenant, endpoint.id, onlyV1a)).rejects.toMatchObject({
    problems: [{ pointer: "/signature/schemes" }],
  });

  await endpoints.update(tenant, endpoint.id, { signature: { schemes: ["t-v1", "standard-webhooks-v1a"] } });
  expect(await secretsOf(endpoint.id)).toEqual([expect.stringMatching(/^whsk_/), own]);
  const { signingKey } = await generateSigningKey();
  // it would sign nothing: the one scheme that it fits has its own by now
  await expect(endpoints.rotateSecret(tenant, endpoint.id, { secret: signingKey })).rejects.toMatchObject({
    problems: [{ pointer: "/secret", message: expect.stringContaining("does not fit t-v1") }],
  });
  const scheme = "standard-webhooks-v1a";
  await endpoints.rotateSecret(tenant, endpoint.id, { secret: signingKey, scheme });
  expect(await endpoints.update(tenant, endpoint.id, onlyV1a)).toMatchObject({
    signature: onlyV1a.signature,
  });
  await expect(endpoints.rotateSecret(tenant, endpoint.id)).rejects.toMatchObject({
    problems: [{ pointer: "/scheme" }],
  });
});

test("every requested scheme signs: key pairs are generated, other secrets are required", async () => {
  const tenant = await newTenant();
  const both = { ...hook, signature: { schemes: ["standard-webhooks", "standard-webhooks-v1a"] } };
  const made = await endpoints.create(tenant, both);
  expect(await secretsOf(made.endpoint.id)).toEqual([expect.stringMatching(/^whsk_/), made.secret]);
  expect(made.secret).toMatch(/^whsec_/);
  const onlyPair = { ...both, schemeSecrets: { "standard-webhooks": generateSecret() } };
  expect((await endpoints.create(tenant, onlyPair)).secret).toMatch(/^whsk_/);

  const text = { ...hook, signature: { schemes: ["github"] }, secret: "of the old sender" };
  const standardToo = { signature: { schemes: ["github", "standard-webhooks"] } };
  await expect(endpoints.create(tenant, { ...text, ...standardToo })).rejects.toMatchObject({
    problems: [{ pointer: "/secret", message: expect.stringContaining("schemeSecrets") }],
  });
  const { endpoint } = await endpoints.create(tenant, text);
  await expect(endpoints.update(tenant, endpoint.id, standardToo)).rejects.toMatchObject({
    problems: [{ pointer: "/signature/schemes", message: expect.stringContaining("Rotate") }],
  });
  await endpoints.rotateSecret(tenant, endpoint.id, { scheme: "standard-webhooks" });
  expect(await endpoints.update(tenant, endpoint.id, standardToo)).toMatchObject(standardToo);
});

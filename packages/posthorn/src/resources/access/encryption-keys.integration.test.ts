import { verify } from "@posthorn/wire";
import { expect, test } from "vitest";
import { databasePerTest } from "../../../../../tests/support/database/database-per-test.ts";
import { startReceiver } from "../../../../../tests/support/servers/start-receiver.ts";
import type { Instance } from "../../posthorn.ts";
import { generateEncryptionKey, parseKeyRing } from "../../storage/key-ring.ts";
import { createTargets } from "../endpoints/targets.ts";

const world = databasePerTest({ started: false, maxEndpointsPerTenant: 1_000 });
const k1 = generateEncryptionKey("k1");
const k2 = generateEncryptionKey("k2");
const hook = { url: "https://example.com/hooks", events: ["*"] };

/** A Posthorn with these keys, the first of which encrypts. */
const open = async (...encryptionKeys: string[]): Promise<Instance> =>
  (await world.open({ encryptionKeys })).hooks;

/** Endpoints whose secrets are encrypted with k1, as in an old installation: id to secret. */
async function makeSecrets(count: number): Promise<Map<string, string>> {
  const hooks = await open(k1);
  const items = Array.from({ length: count }, () => hook);
  const { endpoints } = await hooks.endpoints.import("acme", { endpoints: items });
  return new Map(endpoints.map(({ id, secret }) => [id as string, secret as string]));
}

/** How many secrets each key encrypts. */
const inUse = (counts: Record<string, number>) =>
  Object.entries(counts).map(([keyId, count]) => ({ keyId, count }));

/** All secrets as a process with these keys reads them. */
async function readSecrets(hooks: Instance, ...keys: string[]): Promise<Map<string, string>> {
  const { db } = hooks;
  const targets = createTargets({ db, keyRing: parseKeyRing(keys), defaults: {} as never });
  const found = (await targets.ofTenants(["acme"])).get("acme")?.targets ?? [];
  return new Map(found.map((target) => [`ep_${target.endpointId}`, target.secrets[0]?.value as string]));
}

test("a run that loses the database leaves every secret readable, and the next run continues", async () => {
  const secrets = await makeSecrets(250);
  await world.pool.query(`
    create sequence touched;
    create function die_on_the_150th() returns trigger language plpgsql as $$
    begin
      if nextval('touched') = 150 then perform pg_terminate_backend(pg_backend_pid()); end if;
      return new;
    end $$;
    create trigger die before update on posthorn.endpoint_secrets
      for each row execute function die_on_the_150th();
  `);
  const hooks = await open(k2, k1);
  await expect(hooks.encryptionKeys.reencrypt()).rejects.toMatchObject({ code: "database_unavailable" });
  const { rows } = await world.pool.query(
    'select key_id as "keyId", count(*)::integer from posthorn.endpoint_secrets group by 1 order by 1',
  );
  expect(rows).toEqual(inUse({ k1: 150, k2: 100 }));
  expect(await readSecrets(hooks, k2, k1)).toEqual(secrets);
  expect(await hooks.encryptionKeys.reencrypt()).toMatchObject({
    reencrypted: 150,
    inUse: inUse({ k2: 250 }),
  });
  expect(await readSecrets(hooks, k2)).toEqual(secrets);
});

test("a secret locked by another transaction is skipped, reported, and re-encrypted by the next call", async () => {
  await makeSecrets(3);
  const hooks = await open(k2, k1);
  const holder = await world.pool.connect();
  await holder.query("begin; select from posthorn.endpoint_secrets order by id limit 1 for update");
  expect(await hooks.encryptionKeys.reencrypt()).toMatchObject({
    reencrypted: 2,
    unreadable: 0,
    inUse: inUse({ k1: 1, k2: 2 }),
  });
  await holder.query("commit");
  holder.release();
  expect(await hooks.encryptionKeys.reencrypt()).toMatchObject({ reencrypted: 1 });
});

test("a running worker signs as before, and so does one with only the new key", async () => {
  const receiver = await startReceiver();
  const before = await open(k1);
  const { secret } = await before.endpoints.create("acme", { ...hook, url: `${receiver.url}/hooks` });
  const sendWith = async (hooks: Instance): Promise<void> => {
    const before = receiver.requests.length;
    const { id } = await hooks.publish({ tenant: "acme", type: "order.paid", data: {} });
    await receiver.received(before + 1);
    const { headers, body } = receiver.requests.at(-1) as (typeof receiver.requests)[number];
    expect(headers["webhook-id"]).toBe(id);
    expect(await verify({ scheme: "standard-webhooks", headers, body, secrets: [secret] })).toMatchObject({
      ok: true,
    });
  };
  const running = await open(k2, k1);
  await running.start();
  await sendWith(running);
  await running.encryptionKeys.reencrypt();
  await sendWith(running);
  await running.stop();
  const after = await open(k2);
  await after.start();
  await sendWith(after);
});

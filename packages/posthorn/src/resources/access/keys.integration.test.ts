// The limits of keys and tokens, under concurrent calls.
import { expect, test } from "vitest";
import { databasePerTest } from "../../../../../tests/support/database/database-per-test.ts";
import { MAX_KEYS, MAX_TOKENS } from "./keys.ts";

const database = databasePerTest({ started: false });

/** The codes of rejected calls. */
async function refusals(calls: readonly Promise<unknown>[]): Promise<string[]> {
  const settled = await Promise.allSettled(calls);
  return settled.flatMap((one) => (one.status === "rejected" ? [one.reason.code] : []));
}

function times<Result>(count: number, make: () => Promise<Result>): Promise<Result>[] {
  return Array.from({ length: count }, make);
}

/** Adds keys, or a member's tokens, at once: a hundred calls would wait for connections on a busy machine. */
async function addKeys(count: number, user: string | null = null): Promise<void> {
  await database.pool.query(
    `insert into posthorn.api_keys (id, digest, name, tenant, user_id, scopes, expires_at)
     select 'filler' || n, '', 'x', 'acme', $2::text, '{}', case when $2 is not null then now() + interval '1 hour' end
     from generate_series(1, $1::integer) n`,
    [count, user],
  );
}

test("a tenant's key limit holds for concurrent calls, and revoking a key allows another", async () => {
  const { hooks } = await database.open();
  const { keys } = hooks;
  await hooks.tenants.upsert("other");
  const create = () => keys.create({ name: "x", tenant: "acme", scopes: ["deliveries:read"] });
  await addKeys(MAX_KEYS - 1);
  expect(await refusals(times(4, create))).toEqual(Array(3).fill("key_limit_reached"));
  const { data } = await keys.list({ tenant: "acme", limit: 250 });
  expect(data).toHaveLength(MAX_KEYS);

  await keys.create({ name: "x", tenant: "other", scopes: ["admin"] });
  await keys.create({ name: "x", scopes: ["admin"] });
  await keys.revoke(data[0]?.id as string);
  expect(await refusals(times(2, create))).toEqual(["key_limit_reached"]);
});

test("an expired key is listed until the limit is reached", async () => {
  const { hooks, advance } = await database.open();
  const { keys } = hooks;
  const input = { name: "x", tenant: "acme", scopes: ["deliveries:read"] } as const;
  const short = await keys.create({ ...input, expiresAt: new Date(Date.now() + 60_000) });
  await advance(120_000);
  const isListed = async () => {
    const { data } = await keys.list({ tenant: "acme", limit: 250 });
    return data.some(({ id }) => id === short.key.id);
  };
  await addKeys(MAX_KEYS - 1);
  expect(await isListed()).toBe(true);
  await keys.create(input);
  expect(await isListed()).toBe(false);
  await expect(keys.create(input)).rejects.toMatchObject({ code: "key_limit_reached" });
});

test("a member's tokens have a limit, separate from keys and from other members", async () => {
  const { hooks, advance } = await database.open();
  const { keys, members } = hooks;
  for (const user of ["anna", "bob"]) await members.put("acme", user, { role: "owner" });
  const forAnna = () => keys.createToken("acme", "anna");
  await addKeys(MAX_TOKENS - 1, "anna");
  expect(await refusals(times(3, forAnna))).toEqual(Array(2).fill("key_limit_reached"));
  await keys.createToken("acme", "bob");
  await keys.create({ name: "x", tenant: "acme", scopes: ["admin"] });
  await advance(3_601_000);
  await forAnna();
  expect((await keys.list({ tenant: "acme", limit: 250 })).data.length).toBe(3);
});

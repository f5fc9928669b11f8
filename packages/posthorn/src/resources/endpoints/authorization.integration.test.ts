// The token that authenticates Posthorn to a receiver: where it is sent, and that it is not revealed elsewhere.
import { expect, test } from "vitest";
import { databasePerFile, receiverPerFile } from "../../../../../tests/support/database/database-per-test.ts";

const receiver = await receiverPerFile();
const world = await databasePerFile({ maxEndpointsPerTenant: 100, allowHttp: true });
const { pool } = world;
const instance = await world.open();
const { hooks } = instance;

const TOKEN = "mF_9.B5f-4.1JqM+/=";
let count = 0;

async function made(given: Record<string, unknown>, query = "") {
  count += 1;
  const path = `/hook-${count}`;
  const { endpoint } = await hooks.endpoints.create("acme", {
    url: `${receiver.url}${path}${query}`,
    events: [`number.${count}`],
    ...given,
  });
  const send = async () => {
    await hooks.publish({ tenant: "acme", type: endpoint.events[0] as string, data: {} });
    await instance.settle();
    return receiver.requestsTo(path).at(-1) as ReturnType<typeof receiver.requestsTo>[number];
  };
  return { endpoint, send };
}

test("a bearer token is sent in the Authorization header and never returned", async () => {
  const { endpoint, send } = await made({ authorization: { type: "bearer", token: TOKEN } });
  expect((await send()).headers.authorization).toBe(`Bearer ${TOKEN}`);
  expect(endpoint.authorization).toEqual({ type: "bearer" });

  const [delivery] = (await hooks.deliveries.list({ endpoint: endpoint.id })).data;
  const shown = await hooks.deliveries.request(delivery?.id as string);
  expect(shown).toMatchObject({ headers: { Authorization: "[redacted]" }, redactedParts: ["Authorization"] });
  expect(await hooks.endpoints.secrets("acme", endpoint.id)).toHaveLength(1);
  const { rows } = await pool.query(
    "select s.*, e.* from posthorn.endpoints e join posthorn.endpoint_secrets s on true",
  );
  expect(JSON.stringify(rows)).not.toContain(TOKEN);
});

test("a query token is added to the query, sent with no-store, and masked in responses", async () => {
  const { endpoint, send } = await made({ authorization: { type: "query", token: TOKEN } }, "?a=b%20c&x");
  const request = await send();
  expect(request.url).toBe(`/hook-${count}?a=b%20c&x&access_token=mF_9.B5f-4.1JqM%2B%2F%3D`);
  expect(request.headers["cache-control"]).toBe("no-store");
  expect(request.headers.authorization).toBeUndefined();

  const [delivery] = (await hooks.deliveries.list({ endpoint: endpoint.id })).data;
  const shown = await hooks.deliveries.request(delivery?.id as string);
  expect(shown.url).toBe(`${receiver.url}/hook-${count}?a=b%20c&x&access_token=[redacted]`);
  expect(shown.redactedParts).toEqual(["url"]);
});

test("a response that repeats the token is stored without it", async () => {
  const { endpoint, send } = await made({ authorization: { type: "query", token: TOKEN } });
  receiver.answer(`/hook-${count}`, { status: 404, body: `Cannot POST /?access_token=${TOKEN}` });
  await send();
  const { data } = await hooks.endpoints.attempts("acme", endpoint.id);
  expect(data.map(({ responseBody }) => String(responseBody))).toEqual([
    "Cannot POST /?access_token=[redacted]",
  ]);
});

test("a token can be moved, replaced and removed", async () => {
  const { endpoint, send } = await made({ authorization: { type: "bearer", token: "one" } });
  await hooks.endpoints.update("acme", endpoint.id, { authorization: { type: "query" } });
  expect((await send()).url).toContain("?access_token=one");
  await hooks.endpoints.update("acme", endpoint.id, { authorization: { type: "bearer", token: "two" } });
  expect((await send()).headers.authorization).toBe("Bearer two");
  await hooks.endpoints.import("acme", { endpoints: [await hooks.endpoints.get("acme", endpoint.id)] });
  expect((await send()).headers.authorization).toBe("Bearer two");
  await hooks.endpoints.update("acme", endpoint.id, { authorization: null });
  expect((await send()).headers.authorization).toBeUndefined();
  const { rows } = await pool.query("select from posthorn.endpoint_secrets where endpoint_id = $1", [
    endpoint.id.slice(3),
  ]);
  expect(rows).toHaveLength(1);
});

test("a token is kept when a secret is rotated", async () => {
  const { endpoint, send } = await made({ authorization: { type: "bearer", token: TOKEN } });
  await hooks.endpoints.rotateSecret("acme", endpoint.id, { overlapSeconds: 0 });
  expect((await send()).headers.authorization).toBe(`Bearer ${TOKEN}`);
});

test("a token is not sent to another host after a URL change", async () => {
  const { endpoint } = await made({ authorization: { type: "bearer", token: TOKEN } });
  const elsewhere = { url: "https://other.example/hooks" };
  const moved = hooks.endpoints.update("acme", endpoint.id, elsewhere);
  await expect(moved).rejects.toThrow(/given for another host/);
  const retyped = { ...elsewhere, authorization: { type: "query" } } as const;
  await expect(hooks.endpoints.update("acme", endpoint.id, retyped)).rejects.toThrow(/another host/);
  await hooks.endpoints.update("acme", endpoint.id, { url: `${receiver.url}/other` });
  await hooks.endpoints.update("acme", endpoint.id, { ...elsewhere, authorization: null });
});

test.each([
  [{ authorization: { type: "bearer" } }, /The token is missing/],
  [{ authorization: { type: "basic", token: "a" } }, /Choose one of bearer, query/],
  [{ authorization: { type: "bearer", token: "" } }, /A token is 1 to 4,096/],
  [{ authorization: { type: "bearer", token: "a b" } }, /A token is 1 to 4,096/],
  [{ authorization: { type: "bearer", token: "a\r\nX: y" } }, /A token is 1 to 4,096/],
  [{ authorization: { type: "bearer", token: "x".repeat(4097) } }, /A token is 1 to 4,096/],
  [{ authorization: { type: "bearer", token: "a", tokn: 1 } }, /An authorization has no/],
  [{ authorization: "Bearer a" }, /authorization is an object/],
  [{ authorization: { type: "bearer", token: "a" }, headers: { authorization: "b" } }, /set by the sender/],
  [{ authorization: { type: "query", token: "a" }, headers: { "Cache-Control": "b" } }, /set by the sender/],
  [{ authorization: { type: "query", token: "a" }, url: "https://example.com/?access_token=1" }, /already/],
])("refused: %j", async (given, words) => {
  await expect(made(given)).rejects.toThrow(words);
});

test("a token of 4096 characters is sent", async () => {
  const token = "x".repeat(4096);
  const { send } = await made({ authorization: { type: "bearer", token } });
  expect((await send()).headers.authorization).toBe(`Bearer ${token}`);
});

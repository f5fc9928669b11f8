// The public keys that receivers fetch from the well-known URL.
import { createPublicKey, verify } from "node:crypto";
import { verify as verifySigned } from "@posthorn/wire";
import { startScriptedReceiver } from "posthorn/testing";
import { afterAll, expect, test } from "vitest";
import { startServer } from "../../../../../tests/support/servers/start-server.ts";

const server = await startServer({ atEnd: afterAll });
const receiver = await startScriptedReceiver();
afterAll(() => receiver.close());
await server.call("PUT", "/api/v1/tenants/acme", {});
const create = (input: object) =>
  server.call("POST", "/api/v1/tenants/acme/endpoints", {
    url: `${receiver.url}/in`,
    events: ["x.y"],
    ...input,
  });
const signature = { schemes: ["standard-webhooks-v1a"] };
const made = await create({ events: ["*"], signature });
const path = `/.well-known/webhook-keys/${made.json.id}`;
const get = (at: string, headers = {}) => fetch(server.url + at, { headers });

test("a receiver verifies a delivery with the keys it fetched, before and after a rotation", async () => {
  const before = await (await get(path)).json();
  expect(before.keys).toHaveLength(1);
  expect(before.keys[0]).toMatchObject({ kty: "OKP", crv: "Ed25519", use: "sig", alg: "EdDSA" });
  await server.call("POST", `/api/v1/tenants/acme/endpoints/${made.json.id}/rotate-secret`);
  const after = await (await get(path)).json();
  expect(after.keys.map(({ kid }: { kid: string }) => kid)).toContain(before.keys[0].kid);
  expect(after.keys).toHaveLength(2);

  await server.call("POST", "/api/v1/events", { tenant: "acme", type: "order.paid", data: { a: 1 } });
  const [request] = await receiver.received(1, { path: "/in" });
  const headers = request?.headers as Record<string, string>;
  const signed = Buffer.concat([
    Buffer.from(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.`),
    request?.body as Buffer,
  ]);
  const signatures = (headers["webhook-signature"] as string)
    .split(" ")
    .map((item) => item.replace("v1a,", ""));
  for (const jwk of after.keys) {
    const key = createPublicKey({ key: jwk, format: "jwk" });
    expect(signatures.some((text) => verify(null, signed, key, Buffer.from(text, "base64")))).toBe(true);
  }

  const texts = await get(`${path}/whpk`);
  expect(texts.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  const secrets = (await texts.text()).trim().split("\n");
  for (const secret of secrets) {
    const input = { scheme: "standard-webhooks-v1a", headers, body: request?.body as Buffer };
    expect(await verifySigned({ ...input, secrets: [secret] })).toEqual({ ok: true });
  }
});

test("the response can be cached and revalidated by its ETag", async () => {
  const first = await get(path);
  expect(first.headers.get("cache-control")).toBe("public, max-age=300");
  expect(first.headers.get("content-type")).toBe("application/jwk-set+json");
  const again = await get(path, { "if-none-match": `W/${first.headers.get("etag")}` });
  expect([again.status, await again.text()]).toEqual([304, ""]);
});

test("endpoints without a key pair, deleted ones and unknown ones get the same response", async () => {
  const shared = await create({});
  const gone = await create({ signature });
  await server.call("DELETE", `/api/v1/tenants/acme/endpoints/${gone.json.id}`);
  const answers = [];
  for (const id of [shared.json.id, gone.json.id, "ep_01890a5d-ac97-7000-8000-000000000002", "x"]) {
    const answer = await get(`/.well-known/webhook-keys/${id}`);
    const { status, code, detail } = await answer.json();
    answers.push({ status, code, detail });
  }
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  expect(answers[0]).toMatchObject({ status: 404, code: "endpoint_not_found" });
});

test("the preset of the standard fills in missing settings, and returns them", async () => {
  const { json } = await create({ preset: "standard-webhooks", timeout_ms: 15_000 });
  expect(json).toMatchObject({
    format: "envelope",
    signature: { schemes: ["standard-webhooks"] },
    timeout_ms: 15_000,
    retry_on: "every",
  });
  const totalMs = json.retry_policy.gaps_ms.reduce((sum: number, gap: number) => sum + gap, 0);
  // 75:35:05, the sum of the standard's table
  expect(totalMs).toBe(((75 * 60 + 35) * 60 + 5) * 1_000);
  expect((await create({ preset: "standard" })).status).toBe(422);
});

// The contract against the server itself, by the typed client: every answer is checked against its schema.
import { createClient, PosthornApiError } from "@posthorn/client";
import { expect, test } from "vitest";
import { adminKey, startServer } from "../../../../tests/support/start-server.ts";

test("what the client calls is what the server answers, in the contract's shapes", async () => {
  const server = await startServer();
  const client = createClient({ url: server.url, key: adminKey, checksAnswers: true });
  await client.tenants.put({ tenant: "acme", body: { name: "Acme" } });
  await client.members.put({ tenant: "acme", user: "anna", body: { role: "owner", email: "a@example.com" } });
  const { id: endpoint, secret } = await client.endpoints.create({
    tenant: "acme",
    body: { url: "https://acme.example/hooks", events: ["*"], retry_policy: "30s,5m", is_active: false },
  });
  expect(secret).toMatch(/^whsec_/);
  const published = await client.events.publish({
    body: { tenant: "acme", type: "order.paid", data: { total: 1 }, subject: "order-1" },
  });
  const { id: event } = published as { id: string };
  expect(await client.events.get({ event })).toMatchObject({ data: { total: 1 }, sequence: 1 });
  expect((await client.events.list({ query: { tenant: "acme", limit: 1 } })).data).toHaveLength(1);
  const { data: deliveries } = await client.deliveries.list({ query: { tenant: "acme" } });
  const delivery = deliveries[0]?.id as string;
  expect(await client.deliveries.get({ delivery })).toMatchObject({ state: "pending", attempts: [] });
  expect((await client.deliveries.listOfTenant({ tenant: "acme" })).data).toHaveLength(1);
  expect((await client.deliveries.listOfEndpoint({ tenant: "acme", endpoint })).data).toHaveLength(1);
  expect((await client.endpoints.listAttempts({ tenant: "acme", endpoint })).data).toEqual([]);
  const { endpoints: imported } = await client.endpoints.import({
    tenant: "acme",
    body: { endpoints: [{ id: endpoint, filter: { data: { total: { $gt: 1 } } } }], dry_run: false },
  });
  expect(imported).toEqual([{ action: "updated", id: endpoint, url: expect.any(String), secret: null }]);
  expect(
    await client.endpoints.match({
      tenant: "acme",
      endpoint,
      body: { type: "order.paid", data: { total: 1 } },
    }),
  ).toMatchObject({ matches: false, pointer: "/data/total/$gt" });
  const { id: unmatched } = (await client.events.publish({
    body: { tenant: "acme", type: "order.paid", data: { total: 1 } },
  })) as { id: string };
  expect((await client.events.get({ event: unmatched })).not_matched).toMatchObject([
    { endpoint_id: endpoint, reason: "filter" },
  ]);
  await client.endpoints.rotateSecret({ tenant: "acme", endpoint, body: { overlap_seconds: 60 } });
  await client.endpoints.update({ tenant: "acme", endpoint, body: { description: "billing" } });
  expect(await client.endpoints.get({ tenant: "acme", endpoint })).toMatchObject({ description: "billing" });
  expect((await client.members.list({ tenant: "acme" })).data).toHaveLength(1);
  expect((await client.tenants.list()).data.map(({ id }) => id)).toContain("acme");
  expect(await client.stats.get({ query: { tenant: "acme", period: "day" } })).toMatchObject({
    now: { pending: { count: 1, is_exact: true } },
    ended: { success_rate: null, latency_ms: null },
  });
  await client.endpoints.delete({ tenant: "acme", endpoint });
  expect((await client.endpoints.list({ tenant: "acme" })).data).toEqual([]);
});

test("a refusal is an error with the server's code and places", async () => {
  const server = await startServer({ started: false });
  const client = createClient({ url: server.url, key: adminKey });
  const refused = await client.tenants
    .put({ tenant: "acme", body: { name: 5 as never } })
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(PosthornApiError);
  expect(refused).toMatchObject({
    code: "invalid_body",
    status: 422,
    problem: { errors: [{ pointer: "/name", message: "This must be a string." }] },
  });
  const strange = createClient({ url: `${server.url}/nowhere`, key: adminKey });
  await expect(strange.tenants.list()).rejects.toMatchObject({ status: 404 });
});

test("the reference is served to anybody, with a policy that lets in no script, and the first page leads there", async () => {
  const server = await startServer({ started: false });
  const nobody = { authorization: "" };
  const docs = await server.call("GET", "/docs", undefined, nobody);
  expect([docs.status, docs.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  expect(docs.headers.get("content-security-policy")).toMatch(
    /^default-src 'none'; style-src 'sha256-[^']+';/,
  );
  expect(docs.text).toContain("/api/v1/events");
  expect(docs.text).toContain(`export POSTHORN_URL=${server.url} POSTHORN_API_KEY=`);
  expect((await server.call("GET", "/", undefined, nobody)).text).toContain('href="docs"');
  expect((await server.call("GET", "/openapi.json", undefined, nobody)).status).toBe(200);
});

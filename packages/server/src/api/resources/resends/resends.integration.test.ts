import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createClient, PosthornApiError, pages } from "@posthorn/client";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { adminKey, startServer } from "../../../../../../tests/support/start-server.ts";

async function setUp(tenants: readonly string[]) {
  const http = createServer((request, response) => void request.resume().on("end", () => response.end()));
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void http.close());
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const server = await startServer();
  const client = createClient({ url: server.url, key: adminKey, checksAnswers: true });
  const deliveries: Record<string, string> = {};
  for (const tenant of tenants) {
    await client.tenants.put({ tenant });
    await client.endpoints.create({ tenant, body: { url, events: ["*"] } });
    const { id: event } = (await client.events.publish({
      body: { tenant, type: `${tenant}.paid`, data: 1 },
    })) as { id: string };
    const state = async () => (await client.events.get({ event })).deliveries[0]?.state;
    await expect.poll(state, { timeout: 20_000 }).toBe("success");
    deliveries[tenant] = (await client.events.get({ event })).deliveries[0]?.id as string;
  }
  /** Resolves when it has been sent again. */
  const resend = async (tenant: string): Promise<void> => {
    const delivery = deliveries[tenant] as string;
    const { attempt_count } = await client.deliveries.get({ delivery });
    await client.deliveries.retry({ delivery });
    const attempts = async () => (await client.deliveries.get({ delivery })).attempts.length;
    await expect.poll(attempts, { timeout: 20_000 }).toBe(attempt_count + 1);
  };
  return { server, client, deliveries, resend };
}

test("lists resends, newest first and page by page", async () => {
  const { client, deliveries, resend } = await setUp(["acme", "rivals"]);
  expect((await client.resends.list()).data).toEqual([]);
  const before = new Date().toISOString();
  await resend("acme");
  await resend("acme");
  await resend("rivals");
  const all = (await client.resends.list()).data;
  expect(all.map(({ tenant, attempt, trigger }) => [tenant, attempt, trigger])).toEqual([
    ["rivals", 2, "manual"],
    ["acme", 3, "manual"],
    ["acme", 2, "manual"],
  ]);
  expect(all[0]).toMatchObject({ delivery_id: deliveries.rivals, event_type: "rivals.paid" });
  const paged: unknown[] = [];
  for await (const item of pages((cursor) => client.resends.list({ query: { limit: 1, cursor } })))
    paged.push(item);
  expect(paged).toEqual(all);
  expect((await client.resends.list({ query: { type: "acme.paid" } })).data).toHaveLength(2);
  expect((await client.resends.list({ query: { tenant: "rivals" } })).data).toHaveLength(1);
  expect((await client.resends.list({ query: { resent_after: before } })).data).toHaveLength(3);
  const later = new Date(Date.parse(all[0]?.resent_at as string) + 1).toISOString();
  expect((await client.resends.list({ query: { resent_after: later } })).data).toEqual([]);
});

test("a key of one tenant sees that tenant's alone, and no trace of others in its pages", async () => {
  const { server, client, resend } = await setUp(["acme", "rivals"]);
  await resend("acme");
  await resend("rivals");
  await resend("rivals");
  const body = { name: "x", tenant: "acme", scopes: ["deliveries:read" as const] };
  const { key } = await client.keys.create({ body });
  const own = createClient({ url: server.url, key });
  const page = await own.resends.list({ query: { limit: 1 } });
  expect(page).toMatchObject({ data: [{ tenant: "acme" }], next_cursor: null });
  await expect(own.resends.list({ query: { tenant: "rivals" } })).rejects.toMatchObject({ status: 403 });
});

test.each([
  ["of another list", Buffer.from("events:x").toString("base64url")],
  ["with no moment in it", Buffer.from("resends:1:nothing").toString("base64url")],
])("a cursor %s is refused", async (_what, cursor) => {
  const server = await startServer({ started: false });
  const client = createClient({ url: server.url, key: adminKey });
  const refused = await client.resends.list({ query: { cursor } }).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(PosthornApiError);
  expect(refused).toMatchObject({ problem: { errors: [{ parameter: "cursor" }] } });
});

test("the list is read along its own index, and attempts that were not asked for stay out of it", async () => {
  const { connectionString } = await startServer({ started: false });
  const client = new pg.Client({ connectionString });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query("set enable_seqscan = off");
  const { rows } = await client.query(
    `explain select a.delivery_id from posthorn.attempts a
     where a.trigger in ('manual', 'replay') and a.started_at >= '2026-01-01' order by a.started_at desc, a.delivery_id desc limit 5`,
  );
  const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
  expect(plan).toMatch(/Index (Only )?Scan Backward/);
  expect(plan).not.toMatch(/Seq Scan|-> +Sort/);
});

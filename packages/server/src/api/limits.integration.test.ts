// The limits of requests from outside: each at the limit, and one past it.
import { expect, test } from "vitest";
import { startServer } from "../../../../tests/support/start-server.ts";

const event = { tenant: "acme", type: "order.paid", data: {} };
const nested = (depth: number): string => `${"[".repeat(depth)}${"]".repeat(depth)}`;

test("settings may have 256 KB, and not a byte more", async () => {
  const server = await startServer({ started: false });
  const body = (bytes: number): string => {
    const empty = JSON.stringify({ name: "Acme" });
    return empty + " ".repeat(bytes - empty.length);
  };
  expect((await server.call("PUT", "/api/v1/tenants/acme", body(256 * 1024))).status).toBe(200);
  const past = await server.call("PUT", "/api/v1/tenants/acme", body(256 * 1024 + 1));
  expect([past.status, past.json.code]).toEqual([413, "body_too_large"]);
});

test("whoever makes thousands of mistakes is told of the first 20, in few words", async () => {
  const server = await startServer({ started: false });
  const names = Array.from({ length: 10_000 }, (_, n) => `unknown_${n}`);
  const answers = [
    await server.call("PUT", "/api/v1/tenants/acme", Object.fromEntries(names.map((name) => [name, 1]))),
    await server.call("PUT", "/api/v1/tenants/acme", { ["x".repeat(200_000)]: 1 }),
    await server.call("POST", "/api/v1/keys", { name: "all", scopes: Array(50_000).fill(1) }),
    await server.call("GET", `/api/v1/events?${names.slice(0, 1_000).join("&")}`),
    await server.call("POST", "/api/v1/events", Object.fromEntries(names.map((name) => [name, 1]))),
    await server.call("POST", "/api/v1/events", Array(500).fill({ ...event, wrong: 1 })),
  ];
  for (const { status, text, json } of answers) {
    expect([status, text.length < 8_000]).toEqual([422, true]);
    expect(json.errors.length).toBeLessThanOrEqual(20);
  }
  expect(answers[0]?.json.detail).toMatch(/ And more; see errors\.$/);
});

test("500 events go at once, and not one more", async () => {
  const server = await startServer({ started: false });
  await server.call("PUT", "/api/v1/tenants/acme");
  const all = await server.call("POST", "/api/v1/events", Array(500).fill(event));
  expect([all.status, all.json.length]).toEqual([202, 500]);
  const past = await server.call("POST", "/api/v1/events", Array(501).fill(event));
  expect([past.status, past.json.code]).toEqual([422, "invalid_body"]);
  const { json } = await server.call("GET", "/api/v1/events?limit=250");
  expect([json.data.length, json.next_cursor]).toEqual([250, expect.any(String)]);
  const wide = await server.call("GET", "/api/v1/events?limit=251");
  expect([wide.status, wide.json.detail]).toEqual([422, '"limit" must be a whole number from 1 to 250.']);
});

test("data may be nested 64 deep, and no deeper", async () => {
  const server = await startServer({ started: false });
  await server.call("PUT", "/api/v1/tenants/acme");
  const publish = (depth: number) =>
    server.call("POST", "/api/v1/events", `{"tenant":"acme","type":"order.paid","data":${nested(depth)}}`);
  expect((await publish(64)).status).toBe(202);
  expect((await publish(65)).status).toBe(422);
});

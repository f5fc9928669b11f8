// An endpoint grants its handshake later, by the URL of the request.
import { startScriptedReceiver } from "posthorn/testing";
import { afterAll, expect, test } from "vitest";
import { eventuallyPasses } from "../../../../../tests/support/eventually.ts";
import { startServer } from "../../../../../tests/support/servers/start-server.ts";

const receiver = await startScriptedReceiver();
const server = await startServer({ atEnd: afterAll, posthorn: { publicUrl: "https://hooks.example.com" } });
afterAll(() => receiver.close());

async function waiting(path: string) {
  const handshake = { origin: "hooks.example.com", rate: 6_000 };
  const input = { url: receiver.url + path, events: ["order.paid"], handshake };
  const { path: place } = await server.newEndpoint(input, "acme");
  const [question] = await receiver.received(1, { path });
  const at = String(question?.headers["webhook-request-callback"]);
  expect(at).toMatch(/^https:\/\/hooks\.example\.com\/webhook-grants\/[\w-]{32}$/);
  const shown = async () => (await server.call("GET", place)).json.handshake;
  await eventuallyPasses(async () => expect((await shown()).state).toBe("waiting"));
  return { place, url: server.url + new URL(at).pathname, shown, token: at.split("/").at(-1) as string };
}

test.each([
  ["GET", {}, 6_000],
  ["POST", { "WebHook-Allowed-Rate": "600" }, 600],
  ["POST", { "WebHook-Allowed-Rate": "*" }, null],
])("%s with %j grants the handshake, and held deliveries are sent", async (method, headers, allowed_rate) => {
  const path = `/${crypto.randomUUID()}`;
  const { url, shown, place, token } = await waiting(path);
  await server.call("POST", "/api/v1/events", { tenant: "acme", type: "order.paid", data: {} });
  expect(receiver.requestsTo(path)).toHaveLength(1);
  const answer = await fetch(url, { method, headers: headers as Record<string, string> });
  expect(answer.status).toBe(200);
  expect(await shown()).toMatchObject({ state: "granted", allowed_rate, detail: null });
  const [, delivery] = await receiver.received(2, { path });
  expect(delivery).toMatchObject({
    method: "POST",
    headers: { "webhook-request-origin": "hooks.example.com" },
  });
  expect((await server.call("GET", place)).text).not.toContain(token);
  await server.call("DELETE", place);
});

test("an unknown URL, one of an older request and one of a deleted endpoint grant nothing", async () => {
  const made = await waiting("/older");
  await server.call("PATCH", made.place, { url: `${receiver.url}/newer` });
  expect((await fetch(made.url)).status).toBe(404);
  const gone = await waiting("/gone");
  await server.call("DELETE", gone.place);
  expect((await fetch(gone.url)).status).toBe(404);
  for (const token of ["x", "%00", "x".repeat(5_000)])
    expect((await fetch(`${server.url}/webhook-grants/${token}`)).status).toBe(404);
  const wrong = await waiting("/wrong");
  const headers = { "WebHook-Allowed-Rate": "fast" };
  const refused = await fetch(wrong.url, { method: "POST", headers });
  expect([refused.status, await refused.json()]).toMatchObject([422, { code: "invalid_endpoint" }]);
  expect(await wrong.shown()).toMatchObject({ state: "waiting" });
});

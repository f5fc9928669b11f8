// What the client makes of ids and answers before and after anything is sent; the rest is tried with a real server.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createClient } from "./client.ts";
import { pages } from "./pages.ts";

function clientThatGets(body: string) {
  const asked: string[] = [];
  const send = async (url: Parameters<typeof fetch>[0]) => {
    asked.push(String(url));
    return new Response(body, { status: 200, statusText: "OK" });
  };
  return { client: createClient({ url: "http://hooks.test", key: "k", fetch: send }), asked };
}

test.each([".", ".."])("an id %s, which would lead to another operation, is not sent", async (id) => {
  const { client, asked } = clientThatGets("{}");
  await expect(client.deliveries.listOfTenant({ tenant: id })).rejects.toThrow(TypeError);
  expect(asked).toEqual([]);
});

test("other ids reach their operation whatever is in them", async () => {
  const { client, asked } = clientThatGets("{}");
  await client.tenants.get({ tenant: "../a?b#c" });
  expect(asked).toEqual(["http://hooks.test/api/v1/tenants/..%2Fa%3Fb%23c"]);
});

test.each([
  [undefined, "1"],
  ["portal", "portal"],
] as const)(
  "without a key it is a page of the server (%s): its cookie, its header, no key",
  async (page, header) => {
    let sent: RequestInit = {};
    const send: typeof fetch = async (_url, init = {}) => {
      sent = init;
      return new Response("{}");
    };
    await createClient({ url: "/webhooks", key: null, page, fetch: send }).session.get();
    expect(sent.credentials).toBe("same-origin");
    expect(sent.headers).toEqual({ accept: "application/json", "posthorn-dashboard": header });
    await createClient({ url: "/webhooks", key: "k", fetch: send }).session.get();
    expect([sent.credentials, sent.headers]).toEqual([
      undefined,
      { accept: "application/json", authorization: "Bearer k" },
    ]);
  },
);

test("an answer that is no JSON says that this is no server of ours", async () => {
  const { client } = clientThatGets("<html>Welcome</html>");
  await expect(client.tenants.list()).rejects.toMatchObject({
    name: "PosthornApiError",
    code: "unexpected_answer",
    status: 200,
    message: expect.stringContaining("URL"),
  });
});

test("a list that goes round in circles is an error and not a loop", async () => {
  const next: Readonly<Record<string, string>> = { start: "a", a: "b", b: "a" };
  const read = async () => {
    const items: string[] = [];
    const list = async (cursor = "start") => ({ data: [cursor], next_cursor: next[cursor] ?? null });
    for await (const item of pages(list)) items.push(item);
    return items;
  };
  await expect(read()).rejects.toMatchObject({ code: "unexpected_answer" });
  const { client } = clientThatGets('{"data":[],"next_cursor":"c"}');
  await expect(client.tenants.list({ query: { cursor: "c" } })).rejects.toMatchObject({
    code: "unexpected_answer",
  });
});

test.each([
  ["null", "/"],
  ['{"data":[{"id":5}],"next_cursor":null}', "/data/0/id"],
])("with checksAnswers %s is refused, with the place that does not fit", async (body, place) => {
  const send = async () => new Response(body);
  const client = createClient({ url: "http://hooks.test", key: "k", fetch: send, checksAnswers: true });
  await expect(client.tenants.list()).rejects.toMatchObject({
    code: "unexpected_answer",
    message: expect.stringContaining(`(at ${place})`),
  });
});

test("where nobody listens the error says where, and why", async () => {
  const client = createClient({ url: "http://127.0.0.1:1", key: "k" });
  await expect(client.tenants.list()).rejects.toMatchObject({
    name: "PosthornConnectionError",
    url: "http://127.0.0.1:1",
    message: expect.stringMatching(/^The server at http:\/\/127\.0\.0\.1:1 did not respond \(/),
    cause: expect.any(TypeError),
  });
});

test.each([
  ["before the answer", ""],
  ["within it", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"],
  ["within a refusal", "HTTP/1.1 500 Oh\r\nContent-Length: 100\r\n\r\n{"],
])("a connection that breaks %s is no answer", async (_when, bytes) => {
  const server = createServer((request) => void request.socket.end(bytes));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const client = createClient({ url: `http://127.0.0.1:${port}`, key: "k" });
  await expect(client.tenants.list()).rejects.toMatchObject({ name: "PosthornConnectionError" });
});

test("what the caller aborts is the caller's own error", async () => {
  const client = createClient({ url: "http://127.0.0.1:1", key: "k" });
  const signal = AbortSignal.abort(new Error("enough"));
  await expect(client.tenants.list({ signal })).rejects.toThrow("enough");
});

// How the client checks ids and responses; the rest is tested with a real server.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createClient } from "./client.ts";
import { pages } from "./pages.ts";

function clientThatGets(body: string) {
  const requested: string[] = [];
  const send = async (url: Parameters<typeof fetch>[0]) => {
    requested.push(String(url));
    return new Response(body, { status: 200, statusText: "OK" });
  };
  return { client: createClient({ url: "http://hooks.test", key: "k", fetch: send }), requested };
}

test("an id that would address another operation is rejected, and others are encoded", async () => {
  const { client, requested } = clientThatGets("{}");
  for (const tenant of [".", ".."])
    await expect(client.deliveries.listOfTenant({ tenant })).rejects.toThrow(TypeError);
  await client.tenants.get({ tenant: "../a?b#c" });
  expect(requested).toEqual(["http://hooks.test/api/v1/tenants/..%2Fa%3Fb%23c"]);
});

test.each([
  [undefined, "1"],
  ["portal", "portal"],
] as const)(
  "without a key (%s) the client sends cookies and the page header, and no key",
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

test("a response that is not JSON gives an error that the URL is not a Posthorn server", async () => {
  const { client } = clientThatGets("<html>Welcome</html>");
  const error = { name: "PosthornApiError", code: "unexpected_response", status: 200 };
  const message = expect.stringContaining("Check that the URL is a Posthorn server");
  await expect(client.tenants.list()).rejects.toMatchObject({ ...error, message });
});

test("a list whose cursors repeat is an error", async () => {
  const next: Readonly<Record<string, string>> = { start: "a", a: "b", b: "a" };
  const read = async () => {
    const items: string[] = [];
    const list = async (cursor = "start") => ({ data: [cursor], next_cursor: next[cursor] ?? null });
    for await (const item of pages(list)) items.push(item);
    return items;
  };
  await expect(read()).rejects.toMatchObject({ code: "unexpected_response" });
  const { client } = clientThatGets('{"data":[],"next_cursor":"c"}');
  const again = client.tenants.list({ query: { cursor: "c" } });
  await expect(again).rejects.toMatchObject({ code: "unexpected_response" });
});

test.each([
  ["null", "/"],
  ['{"data":[{"id":5}],"next_cursor":null}', "/data/0/id"],
])("with checksResponses, %s is rejected with a pointer to the mismatch", async (body, place) => {
  const send = async () => new Response(body);
  const client = createClient({ url: "http://hooks.test", key: "k", fetch: send, checksResponses: true });
  const message = expect.stringContaining(`(at ${place})`);
  await expect(client.tenants.list()).rejects.toMatchObject({ code: "unexpected_response", message });
});

test("an unreachable server gives an error with its URL and the cause", async () => {
  const client = createClient({ url: "http://127.0.0.1:1", key: "k" });
  await expect(client.tenants.list()).rejects.toMatchObject({
    name: "PosthornConnectionError",
    url: "http://127.0.0.1:1",
    message: expect.stringMatching(/^The server at http:\/\/127\.0\.0\.1:1 did not respond \(/),
    cause: expect.any(TypeError),
  });
});

test.each([
  ["before the response", ""],
  ["within it", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"],
  ["within an error response", "HTTP/1.1 500 Oh\r\nContent-Length: 100\r\n\r\n{"],
])("a connection that breaks %s is an error", async (_when, bytes) => {
  const server = createServer((request) => void request.socket.end(bytes));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const client = createClient({ url: `http://127.0.0.1:${port}`, key: "k" });
  await expect(client.tenants.list()).rejects.toMatchObject({ name: "PosthornConnectionError" });
});

test("an aborted call rejects with the caller's abort reason", async () => {
  const client = createClient({ url: "http://127.0.0.1:1", key: "k" });
  const signal = AbortSignal.abort(new Error("enough"));
  await expect(client.tenants.list({ signal })).rejects.toThrow("enough");
});

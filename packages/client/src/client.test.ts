// What the client makes of ids and answers before and after anything is sent; the rest is tried with a real server.
import { expect, test } from "vitest";
import { createClient } from "./client.ts";

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

test("an answer that is no JSON says that this is no server of ours", async () => {
  const { client } = clientThatGets("<html>Welcome</html>");
  await expect(client.tenants.list()).rejects.toMatchObject({
    name: "PosthornApiError",
    code: "unexpected_answer",
    status: 200,
    message: expect.stringContaining("URL"),
  });
});

import { expect, test } from "vitest";
import { openReceiver } from "../../../../tests/support/receiver/open-receiver.ts";

type Handshake = { allowedOrigins: string[]; rate?: number };

function request(handshake: Handshake | undefined, headers: Record<string, string>, method = "OPTIONS") {
  const { receiver } = openReceiver({ handshake });
  return receiver.receive({ method, url: "/", headers, body: new Uint8Array(0) });
}

test.each<[requested: string | null, granted: string]>([
  [null, "120"],
  ["60", "60"],
  ["121", "120"],
  ["nonsense", "120"],
])("an allowed origin that requests the rate %s is granted %s", async (requested, granted) => {
  const origin = "eventgrid.azure.net";
  const rate = requested === null ? {} : { "WebHook-Request-Rate": requested };
  const handshake = { allowedOrigins: [origin], rate: 120 };
  expect(await request(handshake, { "WebHook-Request-Origin": origin, ...rate })).toEqual({
    status: 204,
    headers: { allow: "POST", "webhook-allowed-origin": origin, "webhook-allowed-rate": granted },
    body: "",
  });
});

test("without a rate limit any rate is granted", async () => {
  const origin = "anybody.example";
  const { headers } = await request({ allowedOrigins: ["*"] }, { "webhook-request-origin": origin });
  expect(headers).toMatchObject({ "webhook-allowed-origin": origin, "webhook-allowed-rate": "*" });
});

test.each<Record<string, string>>([{ "webhook-request-origin": "evil.example" }, {}])(
  "the headers %j are granted nothing",
  async (requested) => {
    const { status, headers } = await request({ allowedOrigins: ["eventgrid.azure.net"] }, requested);
    expect(status).toBe(403);
    expect(Object.keys(headers).filter((name) => name.startsWith("webhook-"))).toEqual([]);
  },
);

test("other methods are 405 with a list of the allowed ones", async () => {
  const origin = { "webhook-request-origin": "anybody.example" };
  expect(await request(undefined, origin)).toMatchObject({ status: 405, headers: { allow: "POST" } });
  for (const method of ["GET", "PUT", "post"]) {
    const response = await request({ allowedOrigins: ["*"] }, {}, method);
    expect(response).toMatchObject({ status: 405, headers: { allow: "POST, OPTIONS" } });
  }
});

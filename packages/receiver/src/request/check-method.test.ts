// The handshake of CloudEvents' web hooks, and methods that are none of ours.
import { expect, test } from "vitest";
import { createReceiver } from "../receiver.ts";
import { standardWebhooks } from "../sources/standard-webhooks.ts";
import { memoryStore } from "../stores/memory/memory-store.ts";

const receiverWith = (handshake?: { allowedOrigins: string[]; rate?: number }) =>
  createReceiver({
    sources: [standardWebhooks({ secrets: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"] })],
    store: memoryStore(),
    handshake,
  });

function ask(receiver: ReturnType<typeof receiverWith>, headers: Record<string, string>, method = "OPTIONS") {
  return receiver.receive({ method, url: "/", headers, body: new Uint8Array(0) });
}

test("an origin that may send is told so, with a rate", async () => {
  const receiver = receiverWith({ allowedOrigins: ["eventgrid.azure.net"], rate: 120 });
  const origin = { "WebHook-Request-Origin": "eventgrid.azure.net" };
  const granted = { allow: "POST", "webhook-allowed-origin": "eventgrid.azure.net" };
  expect(await ask(receiver, origin)).toEqual({
    status: 204,
    headers: { ...granted, "webhook-allowed-rate": "120" },
    body: "",
  });
  for (const [asked, rate] of [
    ["60", "60"],
    ["121", "120"],
    ["nonsense", "120"],
  ] as const) {
    const { headers } = await ask(receiver, { ...origin, "WebHook-Request-Rate": asked });
    expect(headers).toEqual({ ...granted, "webhook-allowed-rate": rate });
  }
});

test("without a rate as much as they like", async () => {
  const receiver = receiverWith({ allowedOrigins: ["*"] });
  const { headers } = await ask(receiver, { "webhook-request-origin": "anybody.example" });
  expect(headers).toMatchObject({ "webhook-allowed-origin": "anybody.example", "webhook-allowed-rate": "*" });
});

test("other origins, and requests without one, are granted nothing", async () => {
  const receiver = receiverWith({ allowedOrigins: ["eventgrid.azure.net"] });
  for (const headers of [{ "webhook-request-origin": "evil.example" }, {}]) {
    const answer = await ask(receiver, headers as Record<string, string>);
    expect(answer.status).toBe(403);
    expect(Object.keys(answer.headers).filter((name) => name.startsWith("webhook-"))).toEqual([]);
  }
});

test("methods that are none of ours are 405 with those that are", async () => {
  const origin = { "webhook-request-origin": "anybody.example" };
  expect(await ask(receiverWith(), origin)).toMatchObject({ status: 405, headers: { allow: "POST" } });
  const asked = receiverWith({ allowedOrigins: ["*"] });
  for (const method of ["GET", "PUT", "post"]) {
    expect(await ask(asked, {}, method)).toMatchObject({ status: 405, headers: { allow: "POST, OPTIONS" } });
  }
});

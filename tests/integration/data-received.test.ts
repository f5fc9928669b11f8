// Bare data of Posthorn, signed without an id or a time, is accepted by the receiver.
import { createServer } from "node:http";
import { createReceiver, hmac, memoryStore, posthorn, type WebhookEvent } from "@posthorn/receiver";
import { nodeHandler } from "@posthorn/receiver/node";
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { listen } from "../support/servers/http.ts";
import { startServer } from "../support/servers/start-server.ts";

test("data signed with sha256 is handled once by posthorn() and by hmac(), with the event's id and type", async () => {
  const server = await startServer();
  await server.call("PUT", "/api/v1/tenants/acme");
  const handled: WebhookEvent[] = [];
  await addReceiver((secret) => posthorn({ secrets: [secret], schemes: ["sha256"], id: "header" }));
  await addReceiver((secret) =>
    hmac({
      secrets: [secret],
      header: "X-Webhook-Signature",
      format: "sha256={signature}",
      id: { header: "X-Webhook-Id" },
      type: { header: "X-Webhook-Event" },
    }),
  );
  const event = { tenant: "acme", type: "order.paid", data: { total: 1.5 } };
  const { json } = await server.call("POST", "/api/v1/events", event);
  await eventually("both receivers handled it", () => handled.length === 2);
  const received = { id: json.id, type: "order.paid", data: event.data };
  expect(handled.toSorted((a, b) => (a.source < b.source ? -1 : 1))).toMatchObject([
    { source: "hmac", ...received },
    { source: "posthorn", ...received },
  ]);

  async function addReceiver(sourceOf: (secret: string) => ReturnType<typeof posthorn>): Promise<void> {
    const http = createServer();
    const { json: endpoint } = await server.call("POST", "/api/v1/tenants/acme/endpoints", {
      url: await listen(http),
      events: ["*"],
      format: "data",
      signature: { schemes: ["sha256"] },
    });
    const receiver = createReceiver({ sources: [sourceOf(endpoint.secret)], store: memoryStore() });
    http.on("request", nodeHandler(receiver.fallback((received) => void handled.push(received))));
  }
});

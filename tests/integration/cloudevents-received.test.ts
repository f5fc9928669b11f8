// CloudEvents of Posthorn, in every format, are accepted by the receiver.
import { createServer } from "node:http";
import { createReceiver, memoryStore, posthorn, type WebhookEvent } from "@posthorn/receiver";
import { nodeHandler } from "@posthorn/receiver/node";
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { listen } from "../support/servers/http.ts";
import { startServer } from "../support/servers/start-server.ts";

test.each(["cloudevents", "cloudevents-binary", "cloudevents-thin", "cloudevents-batch"] as const)(
  "an event sent as %s is verified and handled once, with its subject and sequence",
  async (format) => {
    const server = await startServer();
    await server.call("PUT", "/api/v1/tenants/acme");
    const http = createServer();
    const { json: endpoint } = await server.call("POST", "/api/v1/tenants/acme/endpoints", {
      url: await listen(http),
      events: ["*"],
      format,
      batch: { max_events: 2, max_delay_ms: 60_000 },
    });
    const handled: WebhookEvent[] = [];
    const options = { secrets: [endpoint.secret], ...(format === "cloudevents-binary" && { format }) };
    const receiver = createReceiver({ sources: [posthorn(options)], store: memoryStore() });
    receiver.on("order.paid", (event) => void handled.push(event));
    http.on("request", nodeHandler(receiver));
    const event = { tenant: "acme", type: "order.paid", subject: "order €", data: { total: 1.5 } };
    for (let n = 0; n < 2; n += 1) await server.call("POST", "/api/v1/events", event);
    await eventually("both events are handled", () => handled.length === 2);
    const data = format === "cloudevents-thin" ? undefined : event.data;
    expect(handled.toSorted((a, b) => (a.sequence ?? 0) - (b.sequence ?? 0))).toMatchObject([
      { type: "order.paid", subject: "order €", sequence: 1, data },
      { type: "order.paid", subject: "order €", sequence: 2, data },
    ]);
    const ended = async () =>
      (await server.call("GET", "/api/v1/deliveries?state=success")).json.data.length ===
      (format === "cloudevents-batch" ? 1 : 2);
    await eventually("both deliveries succeeded", ended);
  },
);

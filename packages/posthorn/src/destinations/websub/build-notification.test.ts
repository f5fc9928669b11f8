import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import type { Event, Target } from "../../model.ts";
import { buildNotification } from "./build-notification.ts";

const feed = { hubUrl: "https://hub.example.com", topicUrl: "https://hub.example.com/t" };

const event: Event = {
  id: "01890a5d-ac96-774b-bcce-b302099a8057",
  tenant: "t1",
  type: "order.paid",
  apiVersion: "1",
  subject: null,
  sequence: null,
  payload: Buffer.from("{}"),
  createdAt: new Date("2025-06-01T10:00:00Z"),
};

function notification(secret: string, shape: typeof feed | null) {
  const target = {
    tenant: "t1",
    url: "https://subscriber.example.com/",
    format: "envelope",
    signature: { schemes: [], headerPrefix: "X-Webhook" },
    secrets: [{ value: secret, expiresAt: null }],
    timeoutMs: 1_000,
  } as unknown as Target;
  const subscription = {
    link: "<https://hub.example.com>; rel=hub",
    signatureMethod: "sha256" as const,
    leaseEndsMs: Number.MAX_VALUE,
    feed: shape,
  };
  const delivery = { id: event.id, event, attempts: 0 };
  return buildNotification(subscription, delivery, target, { startedAt: new Date() }, "Posthorn/1");
}

test("subscribers of a topic are sent the same bytes, each signed with its own secret", () => {
  const [one, other, entry] = [notification("a", null), notification("b", null), notification("a", feed)];
  expect(other.body).toBe(one.body);
  expect(notification("b", feed).body).toBe(entry.body);
  expect(Buffer.from(entry.body).toString()).toMatch(/^<\?xml/);
  const signed = (secret: string) => `sha256=${createHmac("sha256", secret).update(one.body).digest("hex")}`;
  expect([one, other].map(({ headers }) => headers["x-hub-signature"])).toEqual([signed("a"), signed("b")]);
});

// Every source of the kit has a response that its sender does not take as final while an event is being handled.
import { createHmac } from "node:crypto";
import { headerNames, sign } from "@posthorn/wire";
import { expect, test } from "vitest";
import { gate } from "../../../../tests/support/gate.ts";
import { openReceiver } from "../../../../tests/support/receiver/open-receiver.ts";
import {
  type Delivery,
  NOW,
  secret,
  signedDelivery,
} from "../../../../tests/support/receiver/signed-delivery.ts";
import {
  signedSample,
  vendorPresets,
  vendorSamples,
} from "../../../../tests/support/samples/vendor-samples.ts";
import type { Source } from "../source.ts";
import { contentSource } from "../websub/content-source.ts";
import { hmac } from "./hmac.ts";
import { posthorn } from "./posthorn.ts";
import { standardWebhooks } from "./standard-webhooks.ts";

type Sender = readonly [name: string, source: Source, delivery: () => Promise<Delivery>];

const body = new TextEncoder().encode('{"id":"evt_1","type":"order.paid","data":{}}');
const request = (headers: Record<string, string>): Delivery => ({ method: "POST", url: "/", headers, body });

const vendors = vendorSamples.map(
  (sample): Sender => [
    sample.vendor,
    vendorPresets[sample.vendor]({ secrets: sample.verifying }),
    () => signedSample(sample, NOW),
  ],
);

const others: readonly Sender[] = [
  ["standardWebhooks()", standardWebhooks({ secrets: [secret] }), () => signedDelivery({ body })],
  [
    "hmac()",
    hmac({
      secrets: ["a secret"],
      header: "X-Shop-Signature",
      id: { pointer: "/id" },
      type: { pointer: "/type" },
    }),
    async () => request({ "x-shop-signature": createHmac("sha256", "a secret").update(body).digest("hex") }),
  ],
];

const fromPosthorn: Sender = [
  "posthorn()",
  posthorn({ secrets: [secret] }),
  async () => {
    const timestamp = String(NOW.getTime() / 1000);
    const message = { schemes: ["standard-webhooks"], secrets: [secret], id: "evt_1", timestamp, body };
    return request({ [headerNames().event.toLowerCase()]: "order.paid", ...(await sign(message)) });
  },
];

// Posthorn retries a 409 with Retry-After under every retry policy, and does not count it as a failure.
test.each([...vendors, ...others, fromPosthorn])(
  "%s: a delivery during a handler that then fails must come again, and is handled then",
  async (name, source, deliver) => {
    const status = name === "posthorn()" ? 409 : 503;
    const { receiver, failures } = openReceiver({ sources: [source] });
    const [begun, end] = [gate(), gate()];
    let calls = 0;
    receiver.fallback(async () => {
      calls += 1;
      if (calls > 1) return;
      begun.open();
      await end.opened;
      throw new Error("shop closed");
    });
    const delivery = await deliver();
    const first = receiver.receive(delivery);
    await begun.opened;
    const during = await receiver.receive(delivery);
    expect(during).toMatchObject({ status, headers: { "retry-after": expect.stringMatching(/^[1-9]\d*$/) } });
    end.open();
    expect((await first).status).toBe(500);
    expect((await receiver.receive(delivery)).status).toBe(200);
    expect([calls, failures.length]).toEqual([2, 1]);
  },
);

test("only posthorn() has another status than 503 for it", () => {
  const websub = contentSource("websub", null, new WeakMap());
  const sources = [...[...vendors, ...others, fromPosthorn].map(([, source]) => source), websub];
  const own = sources.filter(({ retryLaterStatus }) => retryLaterStatus !== undefined);
  expect(own.map(({ name, retryLaterStatus }) => [name, retryLaterStatus])).toEqual([["posthorn", 409]]);
});

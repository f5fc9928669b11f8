// A request that is not authentic changes nothing: neither the store nor an effect nor the response.
import { generateSecret } from "@posthorn/wire";
import { beforeEach, describe, expect, test } from "vitest";
import { openMemoryWorld } from "../../../tests/support/receiver/memory-world.ts";
import { type Harness, openHarness } from "../../../tests/support/receiver/receiver-harness.ts";
import { type Delivery, NOW, signedDelivery } from "../../../tests/support/receiver/signed-delivery.ts";
import { type StoreWorld, times } from "../../../tests/support/receiver/store-world.ts";

const nowSeconds = NOW.getTime() / 1000;

describe.each(["lease", "inbox"] as const)("mode %s", (mode) => {
  let harness: Harness;
  beforeEach(async () => {
    harness = openHarness((await openMemoryWorld()) as StoreWorld, mode);
    return () => harness.close();
  });

  test.each([-300, 300])("signed %i seconds from now is accepted", async (seconds) => {
    expect((await harness.send({ id: "msg_1", atSeconds: nowSeconds + seconds })).status).toBeLessThan(300);
    await expect.poll(harness.effects).toEqual(["msg_1"]);
  });

  test("a flood of forged, late, too large or malformed requests does not touch the store, and every 401 is the same", async () => {
    const receiver = await harness.receiver({ maxBodyBytes: 1_000 });
    const signed = await signedDelivery();
    const { "webhook-signature": _, ...unsigned } = signed.headers;
    const requests: [status: number, reason: string, delivery: Delivery][] = [
      [401, "header_missing", { ...signed, headers: unsigned }],
      [401, "header_missing", { ...signed, headers: {} }],
      [401, "no_match", await signedDelivery({ secrets: [generateSecret()] })],
      [401, "no_match", { ...signed, body: signed.body.slice(1) }],
      [401, "no_match", withHeader(signed, "webhook-id", "msg_2")],
      [401, "no_match", withHeader(signed, "webhook-timestamp", String(nowSeconds + 1))],
      [401, "malformed", withHeader(signed, "webhook-signature", "v1,AAAA")],
      [401, "too_old", await signedDelivery({ atSeconds: nowSeconds - 301 })],
      [401, "too_new", await signedDelivery({ atSeconds: nowSeconds + 301 })],
      [413, "too_large", await signedDelivery({ payload: { type: "order.paid", data: "x".repeat(1_000) } })],
      [413, "too_large", withHeader(signed, "content-length", "1001")],
      [415, "encoded", await signedDelivery({ headers: { "content-encoding": "gzip" } })],
      [400, "not_an_event", await signedDelivery({ body: new TextEncoder().encode("{") })],
      [400, "not_an_event", await signedDelivery({ body: Uint8Array.of(0x22, 0xff, 0x22) })],
      [
        400,
        "not_an_event",
        await signedDelivery({ headers: { "content-type": "application/cloudevents+json" } }),
      ],
      [405, "method", { ...signed, method: "GET" }],
    ];
    const flood = times(20, () => requests).flat();
    const unauthorized = {
      status: 401,
      headers: { "content-type": "application/json" },
      body: { error: "The request is not authentic." },
    };
    await Promise.all(
      flood.map(async ([status, , delivery]) => {
        const response = await harness.send(delivery, receiver);
        if (status === 401) expect(response).toEqual(unauthorized);
        else expect(response.status).toBe(status);
      }),
    );
    expect(harness.rejected.map(({ status, reason }) => `${status} ${reason}`).toSorted()).toEqual(
      flood.map(([status, reason]) => `${status} ${reason}`).toSorted(),
    );
    expect(harness.watched.calls.filter((name) => name !== "claimDue")).toEqual([]);
    expect(await harness.world.rows()).toBe(0);
    expect(await harness.effects()).toEqual([]);
  });
});

function withHeader(delivery: Delivery, name: string, value: string): Delivery {
  return { ...delivery, headers: { ...delivery.headers, [name]: value } };
}

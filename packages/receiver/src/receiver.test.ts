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

  const expectUntouched = async () => {
    expect(harness.watched.calls.filter((name) => name !== "claimDue")).toEqual([]);
    expect(await harness.world.rows()).toBe(0);
    expect(await harness.effects()).toEqual([]);
  };

  test("a changed byte in body, id, timestamp or signature, and a changed length, is always the same 401", async () => {
    const delivery = await signedDelivery({
      id: "msg_1",
      payload: { type: "order.paid", data: { total: 1 } },
    });
    const responses = new Set<string>();
    let count = 0;
    for (const tampered of tamperedEverywhere(delivery)) {
      responses.add(JSON.stringify(await harness.send(tampered)));
      count += 1;
    }
    expect(count).toBeGreaterThan(100);
    expect([...responses].map((text) => JSON.parse(text))).toEqual([
      {
        status: 401,
        headers: { "content-type": "application/json" },
        body: { error: "The request is not authentic." },
      },
    ]);
    expect(harness.rejected).toHaveLength(count);
    await expectUntouched();
  });

  test.each([-300, 300])("signed %i seconds from now is accepted", async (seconds) => {
    expect((await harness.send({ id: "msg_1", atSeconds: nowSeconds + seconds })).status).toBeLessThan(300);
    await expect.poll(harness.effects).toEqual(["msg_1"]);
  });

  test("a flood of forged, late, too large or malformed requests does not touch the store", async () => {
    const receiver = await harness.receiver({ maxBodyBytes: 1_000 });
    const signed = await signedDelivery();
    const { "webhook-signature": _, ...unsigned } = signed.headers;
    const requests: [status: number, reason: string, delivery: Delivery][] = [
      [401, "header_missing", { ...signed, headers: unsigned }],
      [401, "header_missing", { ...signed, headers: {} }],
      [401, "no_match", await signedDelivery({ secrets: [generateSecret()] })],
      [401, "too_old", await signedDelivery({ atSeconds: nowSeconds - 301 })],
      [401, "too_new", await signedDelivery({ atSeconds: nowSeconds + 301 })],
      [413, "too_large", await signedDelivery({ payload: { type: "order.paid", data: "x".repeat(1_000) } })],
      [413, "too_large", { ...signed, headers: { ...signed.headers, "content-length": "1001" } }],
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
    await Promise.all(
      flood.map(async ([status, , delivery]) => {
        expect((await harness.send(delivery, receiver)).status).toBe(status);
      }),
    );
    expect(harness.rejected.map(({ status, reason }) => `${status} ${reason}`).toSorted()).toEqual(
      flood.map(([status, reason]) => `${status} ${reason}`).toSorted(),
    );
    await expectUntouched();
  });
});

function* tamperedEverywhere(delivery: Delivery): Generator<Delivery> {
  const whole = delivery.body;
  for (const body of [whole.slice(0, -1), whole.slice(1), Uint8Array.of(...whole, 0x20), new Uint8Array(0)]) {
    yield { ...delivery, body };
  }
  for (const at of delivery.body.keys()) {
    const body = delivery.body.slice();
    body[at] = (body[at] as number) ^ 1;
    yield { ...delivery, body };
  }
  for (const name of ["webhook-id", "webhook-timestamp", "webhook-signature"]) {
    const value = delivery.headers[name] as string;
    for (const at of times(value.length, (n) => n)) {
      const changed = String.fromCharCode(value.charCodeAt(at) ^ 1);
      const headers = { ...delivery.headers, [name]: value.slice(0, at) + changed + value.slice(at + 1) };
      yield { ...delivery, headers };
    }
  }
}

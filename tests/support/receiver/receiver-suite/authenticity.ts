// Whoever cannot sign changes nothing: not the store, not an effect, not the answer.
import { standardWebhooks } from "@posthorn/receiver";
import { generateSecret } from "@posthorn/wire";
import { expect, test } from "vitest";
import { type Delivery, NOW, secret, signedDelivery } from "../signed-delivery.ts";
import { times } from "../store-world.ts";
import { type Desk, eventually } from "./desk.ts";

const nowSeconds = NOW.getTime() / 1000;

export function authenticityTests(current: () => Desk): void {
  const expectUntouched = async () => {
    const desk = current();
    expect(desk.watched.calls.filter((name) => name !== "claimDue")).toEqual([]);
    expect(await desk.world.rows()).toBe(0);
    expect(await desk.effects()).toEqual([]);
  };

  test("a changed byte anywhere in body, id, timestamp or signature is 401, always the same one", async () => {
    const desk = current();
    const delivery = await signedDelivery({
      id: "msg_1",
      payload: { type: "order.paid", data: { total: 1 } },
    });
    const answers = new Set<string>();
    let count = 0;
    for (const tampered of tamperedEverywhere(delivery)) {
      answers.add(JSON.stringify(await desk.send(tampered)));
      count += 1;
    }
    expect(count).toBeGreaterThan(100);
    expect([...answers].map((text) => JSON.parse(text))).toEqual([
      {
        status: 401,
        headers: { "content-type": "application/json" },
        body: { error: "The request is not authentic." },
      },
    ]);
    expect(desk.refused).toHaveLength(count);
    await expectUntouched();
  });

  test("a body that is longer or shorter than what was signed is 401", async () => {
    const desk = current();
    const delivery = await signedDelivery();
    const { body } = delivery;
    for (const changed of [
      body.slice(0, -1),
      body.slice(1),
      Uint8Array.of(...body, 0x20),
      new Uint8Array(0),
    ]) {
      expect((await desk.send({ ...delivery, body: changed })).status).toBe(401);
    }
    await expectUntouched();
  });

  test.each([-301, 301])("signed %i seconds from now is 401", async (seconds) => {
    const desk = current();
    expect((await desk.send({ atSeconds: nowSeconds + seconds })).status).toBe(401);
    expect(desk.refused).toMatchObject([{ status: 401, reason: seconds < 0 ? "too_old" : "too_new" }]);
    await expectUntouched();
  });

  test.each([-299, 299, -300, 300])("signed %i seconds from now is fine", async (seconds) => {
    const desk = current();
    expect((await desk.send({ id: "msg_1", atSeconds: nowSeconds + seconds })).status).toBeLessThan(300);
    await eventually(desk.effects, ["msg_1"]);
  });

  test("a flood of what is not authentic, too large or malformed leaves the store untouched", async () => {
    const desk = current();
    const receiver = await desk.receiver({ maxBodyBytes: 1_000 });
    const signed = await signedDelivery();
    const { "webhook-signature": _, ...unsigned } = signed.headers;
    const requests: [status: number, delivery: Delivery][] = [
      [401, { ...signed, headers: unsigned }],
      [401, { ...signed, headers: {} }],
      [401, await signedDelivery({ secrets: [generateSecret()] })],
      [413, await signedDelivery({ payload: { type: "order.paid", data: "x".repeat(1_000) } })],
      [413, { ...signed, headers: { ...signed.headers, "content-length": "1001" } }],
      [415, await signedDelivery({ headers: { "content-encoding": "gzip" } })],
      [400, await signedDelivery({ body: new TextEncoder().encode("{") })],
      [400, await signedDelivery({ body: Uint8Array.of(0x22, 0xff, 0x22) })],
      [400, await signedDelivery({ headers: { "content-type": "application/cloudevents+json" } })],
      [405, { ...signed, method: "GET" }],
    ];
    await Promise.all(
      times(200, async (index) => {
        const [status, delivery] = requests[index % requests.length] as (typeof requests)[0];
        expect((await desk.send(delivery, receiver)).status).toBe(status);
      }),
    );
    expect(desk.refused).toHaveLength(200);
    await expectUntouched();
  });

  test("while a secret is being changed both are good, and no other", async () => {
    const desk = current();
    const [next, other] = [generateSecret(), generateSecret()];
    const receiver = await desk.receiver({ sources: [standardWebhooks({ secrets: [next, secret] })] });
    const status = async (secrets: string[]) =>
      (await desk.send(await signedDelivery({ secrets }), receiver)).status;
    const fine = desk.mode === "inbox" ? 202 : 200;
    expect(await status([secret])).toBe(fine);
    expect(await status([next])).toBe(fine);
    expect(await status([other, secret])).toBe(fine);
    expect(await status([other])).toBe(401);
  });
}

function* tamperedEverywhere(delivery: Delivery): Generator<Delivery> {
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

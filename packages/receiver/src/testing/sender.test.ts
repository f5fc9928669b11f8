import { generateSecret, type HeaderSource, verify } from "@posthorn/wire";
import { describe, expect, it } from "vitest";
import { createReceiver } from "../receiver.ts";
import { posthorn } from "../sources/posthorn.ts";
import { memoryStore } from "../stores/memory/memory-store.ts";
import { createSender, type SenderOptions } from "./sender.ts";
import { createTestClock } from "./test-clock.ts";

const secret = generateSecret();
const event = { type: "order.paid", data: { total: 1 } };

/** Answers by script, the last answer for all that follow, and keeps what came. */
function receiving(...script: (number | ResponseInit | Error)[]) {
  const requests: { headers: Headers; body: Uint8Array }[] = [];
  let atOnce = 0;
  const seen = { requests, mostAtOnce: 0 };
  const receive = async (request: Request): Promise<Response> => {
    seen.mostAtOnce = Math.max(seen.mostAtOnce, ++atOnce);
    requests.push({ headers: request.headers, body: new Uint8Array(await request.arrayBuffer()) });
    atOnce -= 1;
    const step = script[Math.min(requests.length, script.length) - 1] ?? 200;
    if (step instanceof Error) throw step;
    return new Response(null, typeof step === "number" ? { status: step } : step);
  };
  return { requests, seen, receive };
}

function senderTo(receive: SenderOptions["receive"], options: Partial<SenderOptions> = {}) {
  return createSender({ receive, secret, ...options });
}

function verified(headers: HeaderSource, body: Uint8Array, now?: Date) {
  return verify({ scheme: "standard-webhooks", headers, body, secrets: [secret], ...(now && { now }) });
}

describe("createSender", () => {
  it("sends what verifies, and tells what was answered", async () => {
    const { receive, requests } = receiving({ status: 200, headers: { "posthorn-duplicate": "true" } });
    const attempt = await senderTo(receive).send(event);
    expect(attempt).toMatchObject({ status: 200, isDuplicate: true, retryAfterSeconds: null, body: "" });
    expect(await verified(requests[0]?.headers as Headers, requests[0]?.body as Uint8Array)).toEqual({
      ok: true,
    });
  });

  it("sends the same event one after another", async () => {
    const { receive, requests, seen } = receiving(200);
    const attempts = await senderTo(receive).duplicate(event, 3);
    expect(attempts.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(requests.map(({ headers }) => headers.get("webhook-id"))).size).toBe(1);
    expect(new Set(requests.map(({ body }) => String(body))).size).toBe(1);
    expect(requests.map(({ headers }) => headers.get("x-webhook-attempt"))).toEqual(["1", "2", "3"]);
    expect(seen.mostAtOnce).toBe(1);
  });

  it("sends the same event at once", async () => {
    const { receive, requests, seen } = receiving(200);
    expect(await senderTo(receive).atOnce(event, 5)).toHaveLength(5);
    expect(new Set(requests.map(({ headers }) => headers.get("webhook-id"))).size).toBe(1);
    expect(seen.mostAtOnce).toBe(5);
  });

  it("changes one bit of a byte that was signed", async () => {
    const { receive, requests } = receiving(401);
    const sender = senderTo(receive);
    await sender.tamper({ ...event, id: "evt_1" });
    await sender.tamper({ ...event, id: "evt_1" }, 0);
    await sender.send({ ...event, id: "evt_1" });
    const [middle, first, whole] = requests.map(({ body }) => body) as [Uint8Array, Uint8Array, Uint8Array];
    const changed = (body: Uint8Array) => [...whole.keys()].filter((at) => body[at] !== whole[at]);
    expect(changed(middle)).toEqual([whole.length >> 1]);
    expect(changed(first)).toEqual([0]);
    expect(await verified(requests[0]?.headers as Headers, middle)).toMatchObject({ reason: "no_match" });
    await expect(sender.tamper(event, 100_000)).rejects.toThrow(/none at 100000/);
  });

  it("signs in the past and in the future", async () => {
    const { receive, requests } = receiving(401);
    const now = new Date("2026-05-01T00:00:00Z");
    const sender = senderTo(receive, { clock: createTestClock(now) });
    await sender.late(event);
    await sender.late(event, 300);
    await sender.late(event, -301);
    const results = await Promise.all(requests.map(({ headers, body }) => verified(headers, body, now)));
    expect(results).toMatchObject([{ reason: "too_old" }, { ok: true }, { reason: "too_new" }]);
  });

  it("scrambles an order, the same way for the same seed", async () => {
    const { receive, requests } = receiving(200);
    const sender = senderTo(receive);
    const events = Array.from({ length: 9 }, (_, at) => ({ ...event, id: `evt_${at}` }));
    for (const seed of [3, 3, 4]) await sender.scrambled(events, seed);
    const ids = requests.map(({ headers }) => headers.get("webhook-id"));
    const [first, again, other] = [ids.slice(0, 9), ids.slice(9, 18), ids.slice(18)];
    const given = events.map(({ id }) => id);
    expect([...first].sort()).toEqual(given);
    expect(first).not.toEqual(given);
    expect(again).toEqual(first);
    expect(other).not.toEqual(first);
  });

  it("delivers as Posthorn does, by the clock it is given", async () => {
    const clock = createTestClock(new Date("2026-05-01T00:00:00Z"));
    const busy = { status: 409, headers: { "retry-after": "20" } };
    const { receive, requests } = receiving(500, busy, new Error("reset"), 204);
    const { outcome, attempts } = await senderTo(receive, { clock }).deliver(event);
    expect(outcome).toBe("delivered");
    expect(attempts.map(({ status }) => status)).toEqual([500, 409, null, 204]);
    expect(attempts[2]?.error).toEqual(new Error("reset"));
    const seconds = attempts.map(
      ({ sentAt }) => (sentAt.getTime() - Date.parse("2026-05-01T00:00:00Z")) / 1000,
    );
    expect(seconds).toEqual([0, 60, 80, 380]);
    const timestamps = requests.map(({ headers }) => Number(headers.get("webhook-timestamp")) - 1777593600);
    expect(timestamps).toEqual(seconds);
    expect(new Set(requests.map(({ body }) => String(body))).size).toBe(1);
  });

  it("shares its clock with a receiver, whose tolerance is then measured on it", async () => {
    const clock = createTestClock(new Date("2020-01-01T00:00:00Z"));
    let failures = 2;
    const receiver = createReceiver({
      sources: [posthorn({ secrets: [secret] })],
      store: memoryStore(),
      clock: clock.now,
    }).on("order.paid", async () => {
      if (failures-- > 0) throw new Error("not now");
    });
    const { outcome, attempts } = await senderTo(receiver.fetch, { clock }).deliver(event);
    expect(outcome).toBe("delivered");
    expect(attempts.map(({ status }) => status)).toEqual([500, 500, 200]);
  });

  it("gives up when Posthorn would", async () => {
    const failing = receiving(500);
    expect((await senderTo(failing.receive).deliver(event)).outcome).toBe("dead");
    expect(failing.requests).toHaveLength(6);
    const refusing = receiving(401);
    expect((await senderTo(refusing.receive).deliver(event)).attempts).toHaveLength(1);
    const brief = receiving(500);
    await senderTo(brief.receive, { retryGapsMs: [10] }).deliver(event);
    expect(brief.requests).toHaveLength(2);
  });

  it("comes to an end with a receiver that is always busy", async () => {
    const { receive } = receiving({ status: 409, headers: { "retry-after": "3600" } });
    const { outcome, attempts } = await senderTo(receive).deliver(event);
    expect(outcome).toBe("dead");
    expect(attempts.length).toBeLessThan(40);
  });

  it("sends what a vendor would", async () => {
    const { receive, requests } = receiving(200);
    await senderTo(receive).duplicate({ vendor: "github", payload: { ref: "main" }, type: "push" });
    const ids = requests.map(({ headers }) => headers.get("x-github-delivery"));
    expect(new Set(ids).size).toBe(1);
    expect(requests[0]?.headers.get("x-github-event")).toBe("push");
  });

  it("says what it needs when it is not told where to send", () => {
    expect(() => createSender({ secret } as SenderOptions)).toThrow(/receiver\.fetch/);
  });
});

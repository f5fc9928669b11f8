import { generateSecret, type HeaderSource, verify } from "@posthorn/wire";
import { describe, expect, it } from "vitest";
import { createSender, createTestClock, type SenderOptions } from "./sender.ts";

const secret = generateSecret();
const event = { type: "order.paid", data: { total: 1 } };

/** Returns the scripted responses, then the last one again, and records the requests. */
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
  it("sends a valid request and returns the response", async () => {
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
    const inOrder = events.map(({ id }) => id);
    expect([...first].sort()).toEqual(inOrder);
    expect(first).not.toEqual(inOrder);
    expect(again).toEqual(first);
    expect(other).not.toEqual(first);
  });

  it("delivers as Posthorn does, by its clock", async () => {
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

  it("stops retrying when Posthorn would", async () => {
    const failing = receiving(500);
    expect((await senderTo(failing.receive).deliver(event)).outcome).toBe("dead");
    expect(failing.requests).toHaveLength(6);
    const rejecting = receiving(401);
    expect((await senderTo(rejecting.receive).deliver(event)).attempts).toHaveLength(1);
    const brief = receiving(500);
    await senderTo(brief.receive, { retryGapsMs: [10] }).deliver(event);
    expect(brief.requests).toHaveLength(2);
  });

  it("names `receive` if it is missing", () => {
    expect(() => createSender({ secret } as SenderOptions)).toThrow(/receiver\.fetch/);
  });
});

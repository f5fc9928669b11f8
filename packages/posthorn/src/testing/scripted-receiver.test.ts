import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ScriptedReceiver, startScriptedReceiver } from "./scripted-receiver.ts";

let receiver: ScriptedReceiver;
beforeEach(async () => {
  receiver = await startScriptedReceiver();
});
afterEach(() => receiver.close());

function post(path: string, body = "{}"): Promise<Response> {
  return fetch(receiver.url + path, { method: "POST", body });
}

describe("the scripted receiver", () => {
  it("answers 200 to what was not scripted", async () => {
    expect((await post("/any")).status).toBe(200);
  });

  it("plays its script per path and repeats the last answer", async () => {
    receiver.answer("/a", [
      { status: 500 },
      { status: 503, headers: { "retry-after": "1" }, body: "later" },
      { status: 204 },
    ]);
    const first = await post("/a");
    const second = await post("/a");
    expect([first.status, second.status, (await post("/a")).status, (await post("/a")).status]).toEqual([
      500, 503, 204, 204,
    ]);
    expect([second.headers.get("retry-after"), await second.text()]).toEqual(["1", "later"]);
    expect((await post("/b")).status).toBe(200);
  });

  it("takes a number for a status", async () => {
    receiver.answer("/a", [400, 503]);
    receiver.answer("/b", 410);
    expect([(await post("/a")).status, (await post("/a")).status, (await post("/b")).status]).toEqual([
      400, 503, 410,
    ]);
  });

  it.each<[unknown[], string]>([
    [[[400]], "answer takes a path"],
    [["a", 400], "answer takes a path"],
    [["/a"], '"undefined" is no answer'],
    [["/a", ["hangs"]], '"hangs" is no answer'],
    [["/a", { statusCode: 400 }], 'An answer has no "statusCode"'],
    [["/a", { status: "400" }], "400 is no HTTP status"],
    [["/a", 99], "99 is no HTTP status"],
    [["/a", 1_000], "1000 is no HTTP status"],
  ])("refuses %j, which it cannot play", (script, message) => {
    expect(() => (receiver.answer as (...args: unknown[]) => void).apply(receiver, script)).toThrow(message);
  });

  it("remembers what it received, byte for byte", async () => {
    await post("/a?x=1", '{ "é": 1 }');
    expect(receiver.requests).toMatchObject([
      { method: "POST", path: "/a", url: "/a?x=1", body: Buffer.from('{ "é": 1 }') },
    ]);
    expect(receiver.requestsTo("/b")).toEqual([]);
  });

  it("says when enough has arrived", async () => {
    const arrived = receiver.received(2, { path: "/a" });
    await Promise.all([post("/a"), post("/b"), post("/a")]);
    expect((await arrived).map(({ path }) => path)).toEqual(["/a", "/a"]);
    expect(await receiver.received(3)).toHaveLength(3);
  });

  it("says what came instead when not enough arrived", async () => {
    await post("/b");
    await expect(receiver.received(1, { path: "/a", timeoutMs: 20 })).rejects.toThrow(
      "Waited 20 ms for 1 request to /a, got 0. Received so far: /b: 1.",
    );
  });

  it("counts requests under way, per path and in all", async () => {
    let open = () => {};
    const until = new Promise<void>((resolve) => {
      open = resolve;
    });
    receiver.answer("/a", { until });
    receiver.answer("/b", { until });
    const posts = [post("/a"), post("/a"), post("/b")];
    await receiver.received(3);
    expect([
      receiver.concurrency("/a").now,
      receiver.concurrency("/b").now,
      receiver.concurrency().now,
    ]).toEqual([2, 1, 3]);
    open();
    await Promise.all(posts);
    await receiver.idle();
    expect(receiver.concurrency()).toEqual({ now: 0, max: 3 });
  });

  it("fails whoever still waits when it closes", async () => {
    const waiting = receiver.received(1);
    await receiver.close();
    await expect(waiting).rejects.toThrow("closed");
  });
});

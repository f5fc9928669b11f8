import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { gate } from "../../../../tests/support/gate.ts";
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
  it("plays its script per path and repeats the last response", async () => {
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

  it.each<[unknown[], string]>([
    [[[400]], "answer takes a path"],
    [["a", 400], "answer takes a path"],
    [["/a"], '"undefined" is not a response'],
    [["/a", ["hangs"]], '"hangs" is not a response'],
    [["/a", { statusCode: 400 }], 'A response has no "statusCode"'],
    [["/a", { status: "400" }], "400 is not an HTTP status"],
    [["/a", 99], "99 is not an HTTP status"],
    [["/a", 1_000], "1000 is not an HTTP status"],
  ])("rejects the invalid script %j", (script, message) => {
    expect(() => (receiver.answer as (...args: unknown[]) => void).apply(receiver, script)).toThrow(message);
  });

  it("records requests byte for byte", async () => {
    await post("/a?x=1", '{ "é": 1 }');
    expect(receiver.requests).toMatchObject([
      { method: "POST", path: "/a", url: "/a?x=1", body: Buffer.from('{ "é": 1 }') },
    ]);
    expect(receiver.requestsTo("/b")).toEqual([]);
  });

  it("resolves when enough requests have arrived", async () => {
    const arrived = receiver.received(2, { path: "/a" });
    await Promise.all([post("/a"), post("/b"), post("/a")]);
    expect((await arrived).map(({ path }) => path)).toEqual(["/a", "/a"]);
    expect(await receiver.received(3)).toHaveLength(3);
  });

  it("lists the requests that arrived if there were too few", async () => {
    await post("/b");
    await expect(receiver.received(1, { path: "/a", timeoutMs: 20 })).rejects.toThrow(
      "Waited 20 ms for 1 request to /a, got 0. Received so far: /b: 1.",
    );
  });

  it("counts open requests, per path and in total", async () => {
    const { opened: until, open } = gate();
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

  it("rejects pending waits when it closes", async () => {
    const waiting = receiver.received(1);
    await receiver.close();
    await expect(waiting).rejects.toThrow("closed");
  });
});

import { expect, test } from "vitest";
import { SINK_LIMITS, Sink, type SinkRequest } from "./sink.ts";

function request(body: string): SinkRequest {
  return { method: "POST", path: "/sink/x", headers: {}, body, truncated: false, receivedAt: new Date(0) };
}

test("requests are listed newest first", () => {
  const sink = new Sink();
  for (const body of ["1", "2", "3"]) sink.record("x", request(body));
  expect(sink.requests("x").map(({ body }) => body)).toEqual(["3", "2", "1"]);
  expect(sink.requests("y")).toEqual([]);
});

test("only the last 100 requests per id are stored", () => {
  const sink = new Sink();
  for (let n = 0; n < SINK_LIMITS.requestsPerId + 5; n += 1) sink.record("x", request(String(n)));
  expect(sink.requests("x")).toHaveLength(SINK_LIMITS.requestsPerId);
  expect(sink.requests("x").at(-1)?.body).toBe("5");
});

test("beyond 1,000 ids, the least recently used is removed with its requests", () => {
  const sink = new Sink();
  sink.record("old", request("a"));
  sink.record("old", request("b"));
  sink.record("used", request("a"));
  for (let n = 0; n < SINK_LIMITS.ids - 2; n += 1) sink.record(`id${n}`, request(""));
  sink.record("used", request("b"));
  sink.record("one too many", request(""));
  expect([sink.requests("old").length, sink.requests("used").length]).toEqual([0, 2]);
});

test("all bodies together stay below 64 MB", () => {
  const sink = new Sink();
  const body = "x".repeat(SINK_LIMITS.bodyBytes);
  for (let n = 0; n < 400; n += 1) sink.record(`id${n % 4}`, request(body));
  const kept = [0, 1, 2, 3]
    .flatMap((n) => sink.requests(`id${n}`))
    .reduce((sum, r) => sum + r.body.length, 0);
  expect(kept).toBeLessThanOrEqual(SINK_LIMITS.totalBytes);
  expect(kept).toBeGreaterThan(SINK_LIMITS.totalBytes / 2);
});

test("waiting returns the next matching request, or null after the time limit", async () => {
  const sink = new Sink();
  const arrives = sink.next("x", ({ body }) => body === "2", 5_000);
  for (const body of ["1", "2"]) sink.record("x", request(body));
  expect((await arrives)?.body).toBe("2");
  expect(await sink.next("x", () => true, 1)).toBeNull();
});

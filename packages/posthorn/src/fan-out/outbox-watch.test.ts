import { expect, test } from "vitest";
import { POLLED_MS } from "../service/loop.ts";
import { OutboxWatch, WATCH_MS } from "./outbox-watch.ts";

/** A watch that was notified that many times in 99 ms, up to the time 99. */
function notifiedTimes(count: number): OutboxWatch {
  const watch = new OutboxWatch();
  for (let n = 0; n < count; n += 1) watch.notified((n * 99) / (count - 1));
  return watch;
}

test("it begins with more than 10 notifications in 100 ms", () => {
  expect(notifiedTimes(10).due(99)).toBeNull();
  expect(notifiedTimes(11).due(99)).toBe("begin");
});

test("it does not begin if the same notifications take longer", () => {
  const watch = new OutboxWatch();
  for (let n = 0; n <= 100; n += 1) watch.notified(n * 10);
  expect(watch.due(1_000)).toBeNull();
});

test("another worker's watch has to be missed again before this one tries again", () => {
  const watch = notifiedTimes(11);
  watch.reset(99);
  expect(watch.due(99)).toBeNull();
});

test("it is extended in its second half if it relayed at least 50 events", () => {
  const watch = notifiedTimes(11);
  watch.announced(100);
  watch.relayed(49);
  expect(watch.due(100 + WATCH_MS / 2)).toBeNull();
  watch.relayed(1);
  expect(watch.due(100 + WATCH_MS / 2 - 1)).toBeNull();
  expect(watch.due(100 + WATCH_MS / 2)).toBe("extend");
  watch.announced(600);
  expect(watch.due(600 + WATCH_MS / 2)).toBeNull();
});

test("it looks every 10 ms until transactions that saw it have committed", () => {
  const watch = new OutboxWatch();
  expect(watch.pauseMs(0)).toBe(POLLED_MS);
  watch.announced(0);
  expect(watch.pauseMs(WATCH_MS + 99)).toBe(10);
  expect(watch.pauseMs(WATCH_MS + 100)).toBe(POLLED_MS);
});

import { expect, test } from "vitest";
import type { Target } from "../model.ts";
import { lanesToFetchFor, rowsToFetch } from "./fetch-share.ts";

const KB = 1024;
const MB = 1024 * KB;
const events = { format: "envelope" } as Target;
const batches = (maxBytes: number) => ({ format: "cloudevents-batch", batch: { maxBytes } }) as Target;

test("small events are fetched three hundred at a time, for sixty lanes", () => {
  expect(lanesToFetchFor(KB)).toBe(60);
  expect(rowsToFetch(events, { lanes: 60, averageBytes: KB })).toBe(5);
  expect(rowsToFetch(events, { lanes: 1, averageBytes: KB })).toBe(300);
});

test("large events are fetched up to sixteen megabytes, for fewer lanes, and at least one", () => {
  expect([lanesToFetchFor(MB), lanesToFetchFor(4 * MB), lanesToFetchFor(100 * MB)]).toEqual([16, 4, 1]);
  expect(rowsToFetch(events, { lanes: 4, averageBytes: MB })).toBe(4);
  expect(rowsToFetch(events, { lanes: 16, averageBytes: 16 * MB })).toBe(1);
});

test("batches count with their maximum size, whatever was fetched before", () => {
  expect(rowsToFetch(batches(4 * MB), { lanes: 1, averageBytes: KB })).toBe(4);
  expect(rowsToFetch(batches(512 * KB), { lanes: 2, averageBytes: KB })).toBe(16);
  expect(rowsToFetch(batches(KB), { lanes: 1, averageBytes: MB })).toBe(16);
  expect(rowsToFetch(batches(4 * MB), { lanes: 60, averageBytes: KB })).toBe(1);
});

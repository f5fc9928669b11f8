import { lowestUuidAt } from "@posthorn/wire";
import { expect, test } from "vitest";
import type { HistoryTable, Partition } from "../storage/queries/partitions.ts";
import { firstWholeDay, planReplacements } from "./plan-replacements.ts";

const at = (date: string): number => Date.parse(`${date}T00:00:00Z`);
const idAt = (date: string): string => lowestUuidAt(at(date));

function partition(parent: HistoryTable, from: string, to: string, isKept = false): Partition {
  return { parent, name: `${parent}_${from}`, lowerBound: idAt(from), upperBound: idAt(to), isKept };
}

const targets = (partitions: Partition[], cutoff: number) =>
  planReplacements(partitions, cutoff).map(({ target }) => target);

test("a day is replaced from the moment in which its last millisecond is older than the retention", () => {
  const day = [partition("events", "2026-03-01", "2026-03-02")];
  expect(targets(day, at("2026-03-02") - 1)).toEqual([]);
  expect(planReplacements(day, at("2026-03-02"))).toEqual([
    {
      parent: "events",
      target: "events_20260301_kept",
      lowerBound: idAt("2026-03-01"),
      upperBound: idAt("2026-03-02"),
    },
  ]);
});

test("the oldest day comes first, with deliveries, then attempts, then events", () => {
  const days = (["events", "attempt_log", "deliveries"] as const).flatMap((parent) => [
    partition(parent, "2026-03-02", "2026-03-03"),
    partition(parent, "2026-03-01", "2026-03-02"),
  ]);
  expect(targets(days, at("2026-06-01"))).toEqual([
    "deliveries_20260301_kept",
    "attempt_log_20260301_kept",
    "events_20260301_kept",
    "deliveries_20260302_kept",
    "attempt_log_20260302_kept",
    "events_20260302_kept",
  ]);
});

test("a day with only kept rows is not replaced again", () => {
  expect(targets([partition("events", "2026-03-01", "2026-03-02", true)], at("2026-06-01"))).toEqual([]);
});

test("kept days become a month when the month is over, whatever its length and its gaps", () => {
  const days = [
    partition("events", "2024-02-03", "2024-02-04", true),
    partition("events", "2024-02-29", "2024-03-01", true),
  ];
  expect(targets(days, at("2024-03-01") - 1)).toEqual([]);
  expect(planReplacements(days, at("2024-03-01"))).toEqual([
    {
      parent: "events",
      target: "events_202402_kept",
      lowerBound: idAt("2024-02-01"),
      upperBound: idAt("2024-03-01"),
    },
  ]);
});

test("a month waits for a complete day, and is not merged twice", () => {
  const kept = partition("events", "2026-12-01", "2026-12-02", true);
  expect(targets([kept, partition("events", "2026-12-31", "2027-01-01")], at("2027-06-01"))).toEqual([
    "events_20261231_kept",
  ]);
  expect(targets([partition("events", "2026-12-01", "2027-01-01", true)], at("2027-06-01"))).toEqual([]);
});

test("rows are pruned one by one only before the first complete day", () => {
  const cutoff = at("2026-03-05") + 3_600_000;
  const living = partition("events", "2026-03-05", "2026-03-06");
  expect(firstWholeDay([], cutoff)).toBe(idAt("2026-03-05"));
  expect(firstWholeDay([living], cutoff)).toBe(idAt("2026-03-05"));
  const stuck = partition("events", "2026-03-02", "2026-03-03");
  const kept = partition("events", "2026-03-01", "2026-03-02", true);
  expect(firstWholeDay([living, stuck, kept], cutoff)).toBe(idAt("2026-03-02"));
});

import { expect, test } from "vitest";
import { connectionsFor, containerCores, processCount, processesThatFit } from "./process-count.ts";

test.each([
  [1, 1],
  [2, 1],
  [4, 3],
  [1_000, 128],
])("on %i cores auto starts %i", (cores, processes) => {
  expect(processCount("auto", cores)).toBe(processes);
});

test("a given number is used as it is", () => {
  expect(processCount(5, 2)).toBe(5);
});

const v2 = (text: string) => (path: string) => (path.endsWith("/cpu.max") ? text : null);
const v1 = (quota: string) => (path: string) =>
  path.endsWith("/cpu.cfs_quota_us") ? quota : path.endsWith("/cpu.cfs_period_us") ? "100000\n" : null;

test.each<[what: string, read: (path: string) => string | null, cores: number]>([
  ["two cores of cgroup v2", v2("200000 100000\n"), 2],
  ["half a core of cgroup v2", v2("50000 100000\n"), 1],
  ["no limit of cgroup v2", v2("max 100000\n"), Number.POSITIVE_INFINITY],
  ["three and a half cores of cgroup v1", v1("350000\n"), 4],
  ["no limit of cgroup v1", v1("-1\n"), Number.POSITIVE_INFINITY],
  ["no cgroup", () => null, Number.POSITIVE_INFINITY],
])("a container with %s", (_, read, cores) => {
  expect(containerCores(read)).toBe(cores);
});

test("the embedded database allows the connections of all processes, which then fit", () => {
  expect(connectionsFor(1)).toBe(100);
  for (const processes of [2, 8, 9, 128]) {
    const maxConnections = connectionsFor(processes);
    expect(processesThatFit({ maxConnections, usedConnections: 15 })).toBeGreaterThanOrEqual(processes);
  }
});

test("at least one process fits", () => {
  expect(processesThatFit({ maxConnections: 100, usedConnections: 99 })).toBe(1);
  expect(processesThatFit({ maxConnections: 100, usedConnections: 40 })).toBe(5);
});

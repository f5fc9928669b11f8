// Decisions of the catalogue; reading it is tested with a real database.
import { expect, test } from "vitest";
import { cpuMsOf } from "../../../../tests/support/cpu-time.ts";
import type { Event } from "../model.ts";
import { Catalogue } from "./catalogue.ts";
import { DeclaredTypes } from "./declared-types.ts";

interface Stored {
  readonly name: string;
  readonly apiVersion?: string;
  readonly redact?: readonly string[];
  readonly isDeleted?: boolean;
  readonly schema?: string;
}

function catalogueOf(types: readonly Stored[]) {
  let reads = 0;
  const rows = types.map((type) => ({
    apiVersion: "1",
    schema: null,
    redact: [],
    isDeleted: false,
    ...type,
  }));
  const query = async () => {
    reads += 1;
    return [{ catalogue: JSON.stringify({ version: 2, types: rows }) }] as never[];
  };
  const catalogue = new Catalogue({ db: { query }, mode: "auto", declared: new DeclaredTypes({}) });
  return { catalogue, reads: () => reads };
}

const eventOf = (type: string, apiVersion = "1", data: unknown = {}): Event => ({
  id: "0197a3c2-7d1e-7c43-9a51-2f6f6f1b8e10",
  tenant: "acme",
  type,
  apiVersion,
  subject: null,
  sequence: null,
  payload: Buffer.from(JSON.stringify(data)),
  createdAt: new Date(0),
});

test("many unknown types in a full catalogue are rejected quickly, each with a short message", async () => {
  const long = "x".repeat(120);
  const { catalogue } = catalogueOf(Array.from({ length: 2_000 }, (_, n) => ({ name: `${long}.n${n}` })));
  const events = Array.from({ length: 500 }, (_, n) => eventOf(`${long}.m${n}`));
  let problems: Awaited<ReturnType<typeof catalogue.problemsOf>> = [];
  const ms = await cpuMsOf(async () => {
    problems = await catalogue.problemsOf(events);
  });
  // a million comparisons of such names would take longer than this on any machine
  expect(ms).toBeLessThan(10_000);
  expect(problems.every((problem) => problem !== null && problem.message.length < 400)).toBe(true);
  expect(problems[0]?.message).toContain("Did you mean");
});

test("the catalogue is read again only if an event is invalid", async () => {
  const { catalogue, reads } = catalogueOf([{ name: "order.paid" }]);
  await catalogue.refresh();
  catalogue.keepFresh(true);
  expect(await catalogue.problemsOf([eventOf("order.paid")])).toEqual([null]);
  expect(reads()).toBe(1);
  await catalogue.problemsOf([eventOf("order.piad")]);
  expect(reads()).toBe(2);
});

test("redacted paths are those of the version, of all versions if it is not registered, and of deleted types", async () => {
  const { catalogue } = catalogueOf([
    { name: "order.paid", apiVersion: "1", redact: ["/a"] },
    { name: "order.paid", apiVersion: "2", redact: ["/b"] },
    { name: "order.gone", redact: ["/c"], isDeleted: true },
  ]);
  await catalogue.refresh();
  expect(catalogue.redactedPaths("order.paid", "1")).toEqual(["/a"]);
  expect(catalogue.redactedPaths("order.paid", "9")).toEqual(["/a", "/b"]);
  expect(catalogue.redactedPaths("order.paid", null)).toEqual(["/a", "/b"]);
  expect(catalogue.redactedPaths("order.gone", "1")).toEqual(["/c"]);
  expect(catalogue.redactedPaths("order.unknown", "1")).toEqual([]);
});

const manyNames = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`^(a|b|ab)*c${n}$`, {}]));
const costly = { name: "order.paid", schema: JSON.stringify({ patternProperties: manyNames }) };
const costlyData = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`${"ab".repeat(3)}${n}`, 1]));

test("validating costly events yields to other work, and ends when the budget of the call is exhausted", async () => {
  const { catalogue } = catalogueOf([costly]);
  await catalogue.refresh();
  catalogue.keepFresh(true);
  const few = catalogue.problemsOf([eventOf("order.paid", "1", costlyData)]);
  expect(few).toEqual([null]);
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 0);
  const problems = await catalogue.problemsOf(
    Array.from({ length: 500 }, () => eventOf("order.paid", "1", costlyData)),
  );
  clearInterval(timer);
  expect(turns).toBeGreaterThan(3);
  const last = problems.length - 1;
  expect(last).toBeGreaterThan(5);
  expect(last).toBeLessThan(100);
  expect(problems[last]).toMatchObject({ pointer: "/data", code: "event_too_complex" });
  expect(problems.slice(0, -1).every((problem) => problem === null)).toBe(true);
}, 30_000);

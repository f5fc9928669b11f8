import { expect, test } from "vitest";
import { Follower, LONG_OVERLAP_MS, MAX_ITEMS, SHORT_OVERLAP_MS } from "./follower.ts";

interface Item {
  readonly id: string;
  readonly ms: number;
  readonly state?: string;
}

const START = 1_000_000_000;

/** A list like those of the API: newest first, `pageSize` items per page. It fails while `source.isAway`. */
function listOf(items: readonly Item[], pageSize = 2) {
  const source = {
    isAway: false,
    list: async (after: string, cursor: string | undefined) => {
      if (source.isAway) throw new Error("away");
      const found = items.filter(({ ms }) => ms >= Date.parse(after)).sort((a, b) => b.ms - a.ms);
      const [from, to] = [Number(cursor ?? 0), Number(cursor ?? 0) + pageSize];
      return { data: found.slice(from, to), next_cursor: found.length > to ? String(to) : null };
    },
    keyOf: ({ id, state = "" }: Item) => `${id} ${state}`,
    timeOf: ({ ms }: Item) => new Date(ms).toISOString(),
    isOpen: ({ state }: Item) => state === "failed",
  };
  return source;
}

const ids = (items: readonly Item[]): string[] => items.map(({ id }) => id);
const fromNow = { from: new Date(START), isBackFill: false };
const backFill = { from: new Date(START), isBackFill: true };

test("only items after the start are shown, oldest first and once, over many pages", async () => {
  const items: Item[] = [{ id: "before", ms: START - 5 }];
  const follower = new Follower(listOf(items), fromNow);
  expect(await follower.poll()).toEqual([]);
  items.push(...["a", "b", "c", "d", "e"].map((id, index) => ({ id, ms: START + index })));
  expect(ids(await follower.poll())).toEqual(["a", "b", "c", "d", "e"]);
  expect(await follower.poll()).toEqual([]);
});

test("a back-fill begins with existing items", async () => {
  const tooOld = { id: "too old", ms: START - 1 };
  const follower = new Follower(listOf([tooOld, { id: "a", ms: START }]), backFill);
  expect(ids(await follower.poll())).toEqual(["a"]);
});

test("items committed late are not missed", async () => {
  const items: Item[] = [];
  const follower = new Follower(listOf(items), fromNow);
  await follower.poll();
  items.push({ id: "new", ms: START + LONG_OVERLAP_MS });
  expect(ids(await follower.poll())).toEqual(["new"]);
  items.push({ id: "quick", ms: START + LONG_OVERLAP_MS - SHORT_OVERLAP_MS });
  items.push({ id: "slow", ms: START + 1 });
  const shown: string[] = [];
  for (let polls = 0; polls < 20; polls++) shown.push(...ids(await follower.poll()));
  expect(shown).toEqual(["quick", "slow"]);
});

test("nothing is missed after failed polls", async () => {
  const items: Item[] = [];
  const source = listOf(items);
  const follower = new Follower(source, fromNow);
  await follower.poll();
  source.isAway = true;
  await expect(follower.poll()).rejects.toThrow("away");
  items.push({ id: "meanwhile", ms: START + 1 }, { id: "much later", ms: START + 10 * LONG_OVERLAP_MS });
  source.isAway = false;
  expect(ids(await follower.poll())).toEqual(["meanwhile", "much later"]);
});

test("unfinished items are polled until they finish, and shown when they change", async () => {
  const items: Item[] = [{ id: "a", ms: START, state: "failed" }];
  const follower = new Follower(listOf(items), backFill);
  await follower.poll();
  items.push({ id: "b", ms: START + LONG_OVERLAP_MS - 1, state: "success" });
  await follower.poll();
  items[0] = { id: "a", ms: START, state: "success" };
  expect(await follower.poll()).toEqual([items[0]]);
});

test("a poll with too many items reports it once", async () => {
  const itemsOf = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ id: String(index), ms: START + index }));
  const follower = new Follower(listOf(itemsOf(MAX_ITEMS + 1), MAX_ITEMS), backFill);
  expect(await follower.poll()).toHaveLength(MAX_ITEMS);
  expect([follower.takeSkipped(), follower.takeSkipped()]).toEqual([true, false]);
  const whole = new Follower(listOf(itemsOf(MAX_ITEMS), MAX_ITEMS), backFill);
  expect(await whole.poll()).toHaveLength(MAX_ITEMS);
  expect(whole.takeSkipped()).toBe(false);
});

test("rare items are found after any number of empty pages", async () => {
  const source = listOf([]);
  const list = async (_after: string, cursor = "0") =>
    cursor === "500"
      ? { data: [{ id: "a", ms: START }], next_cursor: null }
      : { data: [], next_cursor: String(Number(cursor) + 1) };
  const follower = new Follower({ ...source, list }, backFill);
  expect(await follower.poll()).toHaveLength(1);
  expect(follower.takeSkipped()).toBe(false);
});

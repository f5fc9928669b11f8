import { expect, test } from "vitest";
import { Follower, LONG_OVERLAP_MS, MAX_ITEMS, SHORT_OVERLAP_MS, type Source } from "./follower.ts";

interface Item {
  readonly id: string;
  readonly ms: number;
  readonly state?: string;
}

const START = 1_000_000_000;

/** A list as the API has it: newest first, two to a page. */
function splitList(items: Item[], isOpen?: (item: Item) => boolean) {
  const asked: number[] = [];
  let isAway = false;
  const source: Source<Item> = {
    list: async (after, cursor) => {
      if (isAway) throw new Error("away");
      if (cursor === undefined) asked.push(after.getTime());
      const found = items.filter(({ ms }) => ms >= after.getTime()).sort((a, b) => b.ms - a.ms);
      const from = Number(cursor ?? 0);
      const hasMore = found.length > from + 2;
      return { data: found.slice(from, from + 2), next_cursor: hasMore ? String(from + 2) : null };
    },
    keyOf: ({ id, state = "" }) => `${id} ${state}`,
    timeOf: ({ ms }) => new Date(ms),
    ...(isOpen && { isOpen }),
  };
  const goAway = (away: boolean): void => {
    isAway = away;
  };
  return { source, asked, goAway };
}

const ids = (items: readonly Item[]): string[] => items.map(({ id }) => id);
const fromNow = { from: new Date(START), isBackFill: false };

test("only items after the start are shown, oldest first and once, over many pages", async () => {
  const items: Item[] = [{ id: "before", ms: START - 5 }];
  const follower = new Follower(splitList(items).source, fromNow);
  expect(await follower.poll()).toEqual([]);
  items.push(...["a", "b", "c", "d", "e"].map((id, index) => ({ id, ms: START + index })));
  expect(ids(await follower.poll())).toEqual(["a", "b", "c", "d", "e"]);
  expect(await follower.poll()).toEqual([]);
});

test("a back-fill begins with existing items", async () => {
  const { source } = splitList([
    { id: "too old", ms: START - 1 },
    { id: "a", ms: START },
  ]);
  expect(ids(await new Follower(source, { from: new Date(START), isBackFill: true }).poll())).toEqual(["a"]);
});

test("items committed late are not missed", async () => {
  const items: Item[] = [];
  const follower = new Follower(splitList(items).source, fromNow);
  await follower.poll();
  items.push({ id: "new", ms: START + LONG_OVERLAP_MS });
  expect(ids(await follower.poll())).toEqual(["new"]);
  items.push({ id: "quick", ms: START + LONG_OVERLAP_MS - SHORT_OVERLAP_MS });
  items.push({ id: "slow", ms: START + 1 });
  const shown: string[] = [];
  for (let looks = 0; looks < 20; looks++) shown.push(...ids(await follower.poll()));
  expect(shown).toEqual(["quick", "slow"]);
});

test("nothing is missed after failed polls", async () => {
  const items: Item[] = [];
  const { source, goAway } = splitList(items);
  const follower = new Follower(source, fromNow);
  await follower.poll();
  goAway(true);
  await expect(follower.poll()).rejects.toThrow("away");
  items.push({ id: "meanwhile", ms: START + 1 }, { id: "much later", ms: START + 10 * LONG_OVERLAP_MS });
  goAway(false);
  expect(ids(await follower.poll())).toEqual(["meanwhile", "much later"]);
});

test("unfinished items are polled until they finish, and shown when they change", async () => {
  const items: Item[] = [{ id: "a", ms: START, state: "failed" }];
  const { source } = splitList(items, ({ state }) => state === "failed");
  const follower = new Follower(source, { from: new Date(START), isBackFill: true });
  await follower.poll();
  items.push({ id: "b", ms: START + LONG_OVERLAP_MS - 1, state: "success" });
  await follower.poll();
  items[0] = { id: "a", ms: START, state: "success" };
  expect(await follower.poll()).toEqual([items[0]]);
});

/** Pages as they are given, one after the other. */
function pagesOf(pages: readonly (readonly Item[])[]): Source<Item> {
  return {
    list: async (_, cursor) => {
      const index = Number(cursor ?? 0);
      return {
        data: pages[index] as Item[],
        next_cursor: index + 1 < pages.length ? String(index + 1) : null,
      };
    },
    keyOf: ({ id }) => id,
    timeOf: ({ ms }) => new Date(ms),
  };
}

const backFill = { from: new Date(START), isBackFill: true };
const pageOf = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ id: `${count} ${index}`, ms: START + index }));

test("a poll with too many items reports it once", async () => {
  const follower = new Follower(pagesOf([pageOf(MAX_ITEMS), pageOf(1)]), backFill);
  expect(await follower.poll()).toHaveLength(MAX_ITEMS);
  expect([follower.takeSkipped(), follower.takeSkipped()]).toEqual([true, false]);
  const whole = new Follower(pagesOf([pageOf(MAX_ITEMS)]), backFill);
  expect(await whole.poll()).toHaveLength(MAX_ITEMS);
  expect(whole.takeSkipped()).toBe(false);
});

test("rare items are found after any number of empty pages", async () => {
  const follower = new Follower(pagesOf([...Array.from({ length: 500 }, () => []), pageOf(1)]), backFill);
  expect(await follower.poll()).toHaveLength(1);
  expect(follower.takeSkipped()).toBe(false);
});

import { expect, test } from "vitest";
import type { TableState } from "../storage/queries/vacuum.ts";
import { chooseAction, type LastVacuum, neverVacuumed } from "./vacuum.ts";

function care(state: Partial<TableState>, last: Partial<LastVacuum> = {}, nowMs = 0) {
  const table: TableState = { table: "queue", pages: 0, deadRows: 0, liveRows: 0, mayVacuum: true, ...state };
  return chooseAction(table, { ...neverVacuumed, ...last }, nowMs);
}

test("a table is vacuumed at 5,000 dead rows, and a large one when a fifth of it is dead", () => {
  expect(care({ deadRows: 4_999 })).toBe("none");
  expect(care({ deadRows: 5_000 })).toBe("vacuum");
  expect(care({ deadRows: 199_999, liveRows: 1_000_000 })).toBe("none");
  expect(care({ deadRows: 200_000, liveRows: 1_000_000 })).toBe("vacuum");
});

test("dead rows that the last vacuum could not remove do not count again", () => {
  expect(care({ deadRows: 14_999 }, { deadRows: 10_000 })).toBe("none");
  expect(care({ deadRows: 15_000 }, { deadRows: 10_000 })).toBe("vacuum");
});

test("a table is vacuumed at most every ten seconds", () => {
  expect(care({ deadRows: 50_000 }, { vacuumedAtMs: 1_000 }, 10_999)).toBe("none");
  expect(care({ deadRows: 50_000 }, { vacuumedAtMs: 1_000 }, 11_000)).toBe("vacuum");
});

test("a table is analyzed when its size has changed fourfold, either way", () => {
  expect(care({ pages: 64 })).toBe("none");
  expect(care({ pages: 65 })).toBe("analyze");
  expect(care({ pages: 400 }, { pages: 100 })).toBe("none");
  expect(care({ pages: 401 }, { pages: 100 })).toBe("analyze");
  expect(care({ pages: 25 }, { pages: 100 })).toBe("none");
  expect(care({ pages: 24 }, { pages: 100 })).toBe("analyze");
});

test("a table that cannot be vacuumed is still analyzed", () => {
  expect(care({ deadRows: 50_000, pages: 100, mayVacuum: false })).toBe("analyze");
});

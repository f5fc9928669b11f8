import { expect, test } from "vitest";
import { LaneBalance } from "./lane-balance.ts";

const idle = { delivers: true, leaseEnded: false, utilisation: 0.1, lanes: 100 };

function balance(own: { lanes: number; utilisation?: number }, others: readonly Partial<typeof idle>[]) {
  const compared = new LaneBalance();
  compared.compare(
    { utilisation: 0.1, ...own },
    others.map((other) => ({ ...idle, ...other })),
  );
  return compared;
}

test("a worker with a tenth more lanes than the average keeps them, and one more than that is an excess", () => {
  expect(balance({ lanes: 124 }, [{ lanes: 100 }]).mayGainLanes).toBe(true);
  expect(balance({ lanes: 125 }, [{ lanes: 100 }]).mayGainLanes).toBe(false);
});

test("half of an excess is yielded once a second, however often it is asked for", () => {
  const lanes = balance({ lanes: 170 }, [{ lanes: 30 }]);
  const yielded = [0, 1, 500, 999].map((now) => lanes.takeLanesToYield(170, now));
  expect(yielded).toEqual([30, 0, 0, 0]);
  expect(lanes.takeLanesToYield(140, 1_000)).toBe(30);
});

test("two workers that survey often share their lanes without passing most of them back and forth", () => {
  const workers = [190, 10].map((lanes) => ({ ...idle, lanes, balance: new LaneBalance() }));
  const [first, second] = workers as [(typeof workers)[0], (typeof workers)[0]];
  const seen: number[] = [];
  for (let turn = 0; turn < 10; turn += 1) {
    const before = workers.map(({ lanes }) => ({ ...idle, lanes }));
    first.balance.compare(first, [before[1] as typeof idle]);
    second.balance.compare(second, [before[0] as typeof idle]);
    for (let survey = 0; survey < 20; survey += 1) {
      const now = turn * 1_000 + survey * 40;
      const moved =
        first.balance.takeLanesToYield(first.lanes, now) - second.balance.takeLanesToYield(second.lanes, now);
      first.lanes -= moved;
      second.lanes += moved;
    }
    seen.push(first.lanes);
  }
  expect(seen).toEqual(seen.toSorted((a, b) => b - a));
  expect(seen.at(-1)).toBeLessThanOrEqual(115);
  expect(seen.at(-1)).toBeGreaterThanOrEqual(90);
});

test("an overloaded worker yields a twentieth of its lanes to one that has time, but not to one that has ended", () => {
  expect(balance({ lanes: 100, utilisation: 0.9 }, [{}]).takeLanesToYield(100, 0)).toBe(5);
  expect(balance({ lanes: 100, utilisation: 0.9 }, [{ utilisation: 0.6 }]).takeLanesToYield(100, 0)).toBe(0);
  for (const gone of [{ leaseEnded: true }, { delivers: false }]) {
    const lanes = balance({ lanes: 100, utilisation: 0.9 }, [{ ...gone, lanes: 0 }]);
    expect(lanes.takeLanesToYield(100, 0)).toBe(0);
    expect(lanes.mayGainLanes).toBe(true);
  }
});

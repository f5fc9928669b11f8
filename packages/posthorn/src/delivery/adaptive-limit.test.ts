// The limit on attempts in flight: how it grows and shrinks. Time is the test's.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AdaptiveLimit } from "./adaptive-limit.ts";

/** A receiver that is always as busy as the limit allows, with a response time that depends on it. */
class Busy {
  now = 0;
  readonly limit = new AdaptiveLimit(() => this.now);

  constructor(least = 5, most = 50) {
    this.limit.setBounds(least, most);
  }

  /** As many attempts as the limit allows begin together and succeed. */
  round(responseMs: (inFlight: number) => number, isReached = true): void {
    const inFlight = this.limit.current;
    const durationMs = responseMs(inFlight);
    this.now += durationMs;
    for (let n = 0; n < inFlight; n += 1) this.limit.succeeded(durationMs, isReached);
  }

  rounds(count: number, responseMs: (inFlight: number) => number): number[] {
    return Array.from({ length: count }, () => {
      this.round(responseMs);
      return this.limit.current;
    });
  }
}

describe("growth", () => {
  test("is by one per round of fast responses, up to the upper bound", () => {
    expect(new Busy().rounds(4, () => 20)).toEqual([6, 7, 8, 9]);
    expect(new Busy().rounds(100, () => 20).at(-1)).toBe(50);
  });

  test("needs deliveries that wait because of the limit in at least half of a round", () => {
    const world = new Busy();
    for (let n = 0; n < 20; n += 1) world.round(() => 20, false);
    expect(world.limit.current).toBe(5);
    for (const isReached of [true, false, true, false, true]) world.limit.succeeded(1, isReached);
    expect(world.limit.current).toBe(6);
  });

  test("does not count attempts that began before the limit changed", () => {
    const { limit } = new Busy();
    for (let n = 0; n < 5; n += 1) limit.succeeded(1, true);
    expect(limit.current).toBe(6);
    for (let n = 0; n < 50; n += 1) limit.succeeded(20, true);
    expect(limit.current).toBe(6);
  });

  test("does not happen at an endpoint that takes more than a second", () => {
    expect(new Set(new Busy().rounds(50, () => 1_001))).toEqual(new Set([5]));
  });
});

describe("shrinking", () => {
  const grown = () => {
    const world = new Busy();
    world.rounds(100, () => 20);
    return world;
  };

  test("responses that become clearly slower halve the limit once per round", () => {
    expect(grown().rounds(5, () => 300)).toEqual([25, 12, 6, 5, 6]);
  });

  test("a receiver that handles one request at a time gets a few at once", () => {
    // with seven the seventh waits 175 ms, more than twice the 25 ms of one plus 100 ms
    expect(new Busy(1, 50).rounds(12, (inFlight) => 25 * inFlight)).toEqual([
      2, 3, 4, 5, 6, 7, 3, 4, 5, 6, 7, 3,
    ]);
  });

  test("small differences are noise", () => {
    expect(grown().rounds(5, () => 120)).toEqual([50, 50, 50, 50, 50]);
  });

  test("a limit that nothing reached for ten seconds starts again", () => {
    const world = grown();
    world.now += 10_000;
    expect(world.limit.current).toBe(50);
    world.now += 1;
    expect(world.limit.current).toBe(5);
    expect(world.rounds(3, () => 20)).toEqual([5, 6, 7]);
  });
});

test("a receiver whose response time grows with the load is loaded to about twice its response time at the start", () => {
  const world = new Busy();
  const limits = world.rounds(500, (inFlight) => 40 * inFlight);
  // 200 ms with five in flight: slow above 500 ms
  expect(Math.max(...limits)).toBe(13);
  expect(Math.min(...limits.slice(10))).toBe(6);
});

test("the limit stays within its bounds whatever happens", () => {
  const bound = fc.integer({ min: 1, max: 100 });
  const step = fc.oneof(
    { weight: 8, arbitrary: fc.tuple(fc.constant("success"), fc.nat(2_000), fc.boolean()) },
    fc.tuple(fc.constant("halve")),
    fc.tuple(fc.constant("reset")),
    fc.tuple(fc.constant("bounds"), bound, bound),
    fc.tuple(fc.constant("pass"), fc.nat(20_000)),
  );
  fc.assert(
    fc.property(fc.array(step, { size: "max", maxLength: 300 }), (steps) => {
      let now = 0;
      let [least, most] = [5, 50];
      const limit = new AdaptiveLimit(() => now);
      limit.setBounds(least, most);
      for (const [kind, ...rest] of steps) {
        const before = limit.current;
        if (kind === "success") limit.succeeded(rest[0] as number, rest[1] as boolean);
        else if (kind === "halve") limit.halve();
        else if (kind === "reset") limit.reset();
        else if (kind === "pass") now += rest[0] as number;
        else {
          [least, most] = rest as [number, number];
          limit.setBounds(least, most);
        }
        const { current } = limit;
        expect(current).toBeGreaterThanOrEqual(least);
        expect(current).toBeLessThanOrEqual(Math.max(least, most));
        if (kind === "success") expect(current).toBeLessThanOrEqual(before + 1);
        if (kind === "reset") expect(current).toBe(least);
        if (kind === "halve") expect(current).toBe(Math.max(least, Math.floor(before / 2)));
      }
    }),
    { numRuns: 200, seed: 1 },
  );
});

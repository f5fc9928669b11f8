import { describe, expect, test } from "vitest";
import { failed, responded } from "../../../../tests/support/samples/outcomes.ts";
import { WEBHOOK } from "../destinations/webhook/webhook.ts";
import type { AttemptOutcome, CircuitState, DisableCause, EndpointHealth } from "../model.ts";
import {
  afterAttempt,
  blockedUntilMs,
  circuitOf,
  disableCause,
  FailureWindow,
  HEALTHY,
  type HealthRules,
  healthSignal,
  MAX_THROTTLE_MS,
  restoreHealth,
} from "./endpoint-health.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const DAY = 86_400_000;
const rules: HealthRules = {
  circuitBreaker: { failures: 3, failurePercent: 50, failuresPerHour: 0, pauseMs: 10_000 },
  disableAfter: { failures: 50, days: 5 },
};

/** An outcome, or a status, and when it arrived: milliseconds after NOW. */
type Step = AttemptOutcome | number | readonly [outcome: AttemptOutcome | number, atMs: number];

interface Settings extends Partial<HealthRules["circuitBreaker"]> {
  readonly maxInFlight?: number;
}

/** Returns the health after each step. */
function healthAfterEach(
  steps: readonly Step[],
  { maxInFlight = 5, ...changed }: Settings = {},
): EndpointHealth[] {
  const window = new FailureWindow();
  let health: EndpointHealth = HEALTHY;
  return steps.map((step) => {
    const [given, atMs] = Array.isArray(step) ? step : [step, 0];
    const outcome = typeof given === "number" ? responded(given) : given;
    const nowMs = NOW + atMs;
    const circuitBreaker = { ...rules.circuitBreaker, ...changed };
    const context = { rules: { ...rules, circuitBreaker }, window, maxInFlight, nowMs, random: () => 0.5 };
    const signal = healthSignal(outcome, WEBHOOK.interpret(outcome, "transient"), nowMs);
    health = afterAttempt(health, signal, context);
    return health;
  });
}

const healthAfter = (steps: readonly Step[], settings?: Settings) =>
  healthAfterEach(steps, settings).at(-1) as EndpointHealth;

const opened: Step[] = [500, 500, 500];
const probed: Step[] = [...opened, [200, 10_000]];
const breakerOff: Settings = { failures: 0 };
const alternating = (times: number): number[] => Array(times).fill([200, 500]).flat();
const twoAt = (atMs: number): Step[] => [
  [200, atMs],
  [500, atMs],
];

const tripped = { trips: 1, probeAtMs: NOW + 10_000, consecutiveFailures: 5 };

describe("the circuit", () => {
  test.each<[what: string, CircuitState, steps: Step[], atMs: number, health?: object, settings?: Settings]>([
    ["before the last of the failures in a row", "closed", [500, 500], 0],
    ["at the last of the failures in a row", "open", opened, 0, { probeAtMs: NOW + 10_000 }],
    ["after a success between the failures", "closed", [500, 500, 200, 500, 500], 0],
    ["with fewer than twenty attempts in a minute", "closed", alternating(9), 0],
    ["when half of twenty attempts in a minute failed", "open", alternating(10), 0],
    ["when the last of them is in the same minute", "open", [...alternating(9), ...twoAt(30_000)], 30_000],
    ["when the last of them is a minute later", "closed", [...alternating(9), ...twoAt(60_000)], 60_000],
    ["with the percentage turned off", "closed", alternating(50), 0, {}, { failurePercent: 0 }],
    [
      "with the breaker turned off",
      "closed",
      Array(100).fill(500),
      0,
      { consecutiveFailures: 100 },
      breakerOff,
    ],
    ["a moment before the probe", "open", opened, 9_999],
    ["when the probe is due", "half_open", opened, 10_000, { allowance: 1 }],
    ["when the probe failed", "open", [...opened, [500, 10_000]], 10_000, { probeAtMs: NOW + 30_000 }],
    ["when the probe succeeded", "half_open", probed, 10_000, { allowance: 2 }],
    ["after two successes", "half_open", [...probed, [200, 10_000]], 10_000, { allowance: 4 }],
    ["when an attempt after the probe failed", "open", [...probed, [500, 10_001]], 10_001, { allowance: 1 }],
    [
      "when it opens again",
      "open",
      [...opened, [500, 10_000], ...twoAt(30_000)],
      30_000,
      { probeAtMs: NOW + 40_000 },
    ],
    ["after failures of attempts that were in flight", "open", [...opened, 500, 500], 0, tripped],
    ["after a success of such an attempt", "half_open", [...opened, [200, 5]], 5, { allowance: 1 }],
  ])("%s is %s", (_what, circuit, steps, atMs, expected = {}, settings = {}) => {
    const health = healthAfter(steps, settings);
    expect(circuitOf(health, NOW + atMs)).toBe(circuit);
    expect(health).toMatchObject(expected);
  });

  test("never pauses for longer than five minutes", () => {
    // the probes are further apart than any pause
    const probes = Array.from({ length: 60 }, (_, n): Step => [500, n * DAY]);
    expect(healthAfter(probes).probeAtMs).toBe(NOW + 59 * DAY + 300_000);
  });

  test("continues from its stored state under the next owner, half open unless closed", () => {
    const { allowance: _, ...recorded } = healthAfter([500]);
    expect(restoreHealth(recorded).allowance).toBe(Number.POSITIVE_INFINITY);
    expect(restoreHealth({ ...recorded, probeAtMs: NOW }).allowance).toBe(1);
    expect(restoreHealth(null)).toBe(HEALTHY);
  });
});

describe("failures within an hour", () => {
  const MINUTE = 60_000;
  const HOUR = 60 * MINUTE;
  /** A failure and a success per minute. */
  const mixed = (count: number, firstMs = 0): Step[] =>
    Array.from({ length: count }, (_, n): Step[] => [
      [500, firstMs + n * MINUTE],
      [200, firstMs + n * MINUTE],
    ]).flat();
  const fiveAnHour: Settings = { failuresPerHour: 5 };

  test.each<[what: string, CircuitState, steps: Step[], settings?: Settings]>([
    ["one fewer than the limit", "closed", mixed(4)],
    ["the limit, with successes between them", "half_open", mixed(5)],
    ["the limit without the condition", "closed", mixed(50), { failuresPerHour: 0 }],
    ["the limit without other conditions", "half_open", mixed(5), { failures: 0, ...fiveAnHour }],
    ["one fewer without other conditions", "closed", mixed(4), { failures: 0, ...fiveAnHour }],
    ["the limit over 59 minutes", "half_open", [...mixed(4), [500, 59 * MINUTE], [200, 59 * MINUTE]]],
    ["the limit over an hour", "closed", [...mixed(4), [500, HOUR], [200, HOUR]]],
    ["one more, long after the others", "closed", [...mixed(4), [500, 5 * HOUR]]],
  ])("%s: %s", (_what, circuit, steps, settings = fiveAnHour) => {
    const last = steps.at(-1) as readonly [number, number];
    expect(circuitOf(healthAfter(steps, settings), NOW + last[1] + DAY)).toBe(circuit);
  });

  test("are counted anew after the circuit has opened", () => {
    expect(healthAfter(mixed(5).slice(0, -1), fiveAnHour)).toMatchObject({ trips: 1, recentFailures: null });
  });

  test("survive a success and a change of owner, and end after an hour", () => {
    const healthy = healthAfter(mixed(2), fiveAnHour);
    const minute = NOW / MINUTE;
    const recentFailures = [
      [minute, 1],
      [minute + 1, 1],
    ];
    expect(healthy).toEqual({ ...HEALTHY, recentFailures });
    const { allowance: _, askedUntilMs: __, ...recorded } = healthy;
    expect(restoreHealth(recorded)).toEqual(healthy);
    expect(healthAfter([...mixed(2), [200, HOUR]], fiveAnHour).recentFailures).toEqual([[minute + 1, 1]]);
    expect(healthAfter([...mixed(2), [200, 61 * MINUTE]], fiveAnHour)).toBe(HEALTHY);
  });

  test("cost a success nothing: the health stays the same object", () => {
    const [, , before, after] = healthAfterEach([...mixed(1), [200, 1], [200, 2]], fiveAnHour);
    expect(after).toBe(before);
  });
});

test.each<[what: string, steps: Step[], settings?: Settings]>([
  ["a success", [500, 500, 200]],
  ["as many successes as the ramp has steps", [...opened, ...Array(3).fill([200, 10_000])]],
  ["the first success, if the cap is one", [...opened, [200, 10_000]], { maxInFlight: 1 }],
  ["a success after a throttle", [429, 200]],
  ["a success during a pause that the receiver did not ask for", [503, [200, 10]]],
  ["a success after the pause that the receiver asked for", [responded(429, "60"), [200, 60_000]]],
  ["a 409 with Retry-After", [responded(409, "5")]],
  ["an attempt that was not signed because a key is missing here", [failed("not_signed")]],
])("an endpoint is healthy after %s", (_what, steps, settings) => {
  expect(healthAfter(steps, settings)).toBe(HEALTHY);
});

describe("a throttle", () => {
  test.each([
    ["seconds", "30", 30_000],
    ["a date", "Thu, 01 Jan 2026 00:00:07 GMT", 7_000],
    ["more than an hour", "86400", MAX_THROTTLE_MS],
    ["exactly an hour", "3600", MAX_THROTTLE_MS],
    ["nothing, or junk", "soon", 1_000],
  ])("after 429 with Retry-After of %s", (_, header, ms) => {
    expect(blockedUntilMs(healthAfter([responded(429, header)]))).toBe(NOW + ms);
  });

  test.each([
    [429, "a second", [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]],
    [503, "a tenth of a second", [100, 200, 400]],
  ])("after %i without Retry-After begins with %s and doubles, up to a minute", (status, _, pauses) => {
    const steps = pauses.map((_pause, n): Step => [status, n * DAY]);
    const each = healthAfterEach(steps, { failures: 0 });
    expect(each.map((health, n) => blockedUntilMs(health) - NOW - n * DAY)).toEqual(pauses);
  });

  test("begins with the shortest pause again after a success", () => {
    expect(blockedUntilMs(healthAfter([429, [429, DAY], [200, 2 * DAY], [429, 3 * DAY]]))).toBe(
      NOW + 3 * DAY + 1_000,
    );
  });

  test("by 429 is not a failure, by 503 it is", () => {
    expect(healthAfter([responded(429, "5")])).toMatchObject({ consecutiveFailures: 0, failingSinceMs: NOW });
    const busy = { consecutiveFailures: 1, throttledUntilMs: NOW + 5_000 };
    expect(healthAfter([responded(503, "5")])).toMatchObject(busy);
  });

  test("counts once for simultaneous responses, and a shorter Retry-After does not shorten it", () => {
    const once = { throttles: 1, throttledUntilMs: NOW + 1_000 };
    expect(healthAfter(Array(5).fill(429))).toMatchObject(once);
    expect(blockedUntilMs(healthAfter([responded(429, "60"), responded(429, "1")]))).toBe(NOW + 60_000);
  });

  test("that the receiver asked for is not ended by a success that was in flight", () => {
    const asked = healthAfter([responded(429, "60"), [200, 10]]);
    expect(asked).toMatchObject({ throttledUntilMs: NOW + 60_000, lastError: null });
    const alsoOpen = healthAfter([...Array(3).fill(responded(503, "60")), [200, 10]]);
    expect(circuitOf(alsoOpen, NOW + 10)).toBe("half_open");
    expect(blockedUntilMs(alsoOpen)).toBe(NOW + 60_000);
  });
});

test.each<[what: string, outcome: AttemptOutcome, lastError: string]>([
  ["a 500", responded(500), "HTTP 500"],
  ["a 401", responded(401), "HTTP 401"],
  ["a redirect", responded(302), "HTTP 302"],
  ["a 409 without Retry-After", responded(409), "HTTP 409"],
  ["a timeout", failed("timeout"), "timeout"],
  ["a blocked address", failed("blocked_address"), "blocked_address"],
  ["an invalid request", failed("invalid_request"), "invalid_request"],
])("%s is a failure", (_, outcome, lastError) => {
  expect(healthAfter([outcome])).toMatchObject({ consecutiveFailures: 1, failingSinceMs: NOW, lastError });
});

test.each<[what: string, cause: DisableCause | null, health: Partial<EndpointHealth>, days: number]>([
  ["49 failures in a row", null, { consecutiveFailures: 49 }, 0],
  ["50 failures in a row", "failures", { consecutiveFailures: 50 }, 0],
  ["failures for almost five days", null, { consecutiveFailures: 10 }, 5 - 1 / DAY],
  ["failures for five days", "no_success", { consecutiveFailures: 10 }, 5],
  ["few failures in five days", null, { consecutiveFailures: 9 }, 5],
  ["throttled responses for five days", "no_success", { throttles: 10 }, 5],
])(
  "after %s the cause for disabling is %s, and there is none if that is turned off",
  (_, cause, health, days) => {
    const failing = { ...HEALTHY, failingSinceMs: NOW, ...health };
    expect(disableCause(failing, NOW + days * DAY, rules)).toBe(cause);
    const never = { disableAfter: { failures: 0, days: 0 } };
    expect(disableCause(failing, NOW + days * DAY, never)).toBeNull();
  },
);

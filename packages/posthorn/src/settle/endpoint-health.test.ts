import { describe, expect, it } from "vitest";
import { WEBHOOK } from "../destinations/webhook/webhook.ts";
import { type AttemptError, type AttemptOutcome, type EndpointHealth, NO_PHASES } from "../model.ts";
import {
  afterAttempt,
  blockedUntilMs,
  circuitOf,
  disableCause,
  HEALTHY,
  type HealthRules,
  healthSignal,
  MAX_THROTTLE_MS,
  restoreHealth,
} from "./endpoint-health.ts";
import { FailureWindow } from "./failure-window.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const DAY = 86_400_000;
const rules: HealthRules = {
  circuitFailures: 3,
  circuitFailurePercent: 50,
  circuitPauseMs: 10_000,
  disableAfterFailures: 50,
  disableAfterDays: 5,
};

function answered(statusCode: number, retryAfter: string | null = null): AttemptOutcome {
  return {
    kind: "answered",
    statusCode,
    responseBody: new Uint8Array(),
    retryAfter,
    durationMs: 1,
    phases: NO_PHASES,
  };
}

function failed(error: AttemptError): AttemptOutcome {
  return { kind: "failed", error, detail: "", durationMs: 1, phases: NO_PHASES };
}

/** One endpoint's life: answers in, health out, at times of one's own. */
function endpoint({ maxInFlight = 5, changed = {} as Partial<HealthRules> } = {}) {
  const window = new FailureWindow();
  let health: EndpointHealth = HEALTHY;
  return {
    get health() {
      return health;
    },
    hears(outcome: AttemptOutcome, nowMs = NOW): EndpointHealth {
      const sign = healthSignal(outcome, WEBHOOK.interpret(outcome, "transient"), nowMs);
      health = afterAttempt(health, sign, {
        rules: { ...rules, ...changed },
        window,
        maxInFlight,
        nowMs,
        random: () => 0.5,
      });
      return health;
    },
  };
}

describe("circuit", () => {
  it("opens at the last of the failures in a row, not before", () => {
    const one = endpoint();
    one.hears(answered(500));
    expect(circuitOf(one.hears(answered(500)), NOW)).toBe("closed");
    const health = one.hears(answered(500));
    expect(circuitOf(health, NOW)).toBe("open");
    expect(health.probeAtMs).toBe(NOW + 10_000);
  });

  it("counts in a row: a success between starts the count again", () => {
    const one = endpoint();
    one.hears(answered(500));
    one.hears(answered(500));
    expect(one.hears(answered(200))).toBe(HEALTHY);
    one.hears(answered(500));
    expect(circuitOf(one.hears(answered(500)), NOW)).toBe("closed");
  });

  it("opens when half of twenty attempts within a minute failed, though never three in a row", () => {
    const one = endpoint();
    for (let i = 0; i < 9; i += 1) {
      one.hears(answered(200));
      expect(circuitOf(one.hears(answered(500)), NOW)).toBe("closed");
    }
    one.hears(answered(200));
    expect(circuitOf(one.hears(answered(500)), NOW)).toBe("open");
  });

  it("does not open by percentage when that is turned off", () => {
    const one = endpoint({ changed: { circuitFailurePercent: 0 } });
    for (let i = 0; i < 50; i += 1) {
      one.hears(answered(200));
      expect(circuitOf(one.hears(answered(500)), NOW)).toBe("closed");
    }
  });

  it("never opens when the breaker is off", () => {
    const one = endpoint({ changed: { circuitFailures: 0 } });
    for (let i = 0; i < 100; i += 1) one.hears(answered(500));
    expect(circuitOf(one.health, NOW)).toBe("closed");
    expect(one.health.consecutiveFailures).toBe(100);
  });

  it("is half open from probe_at on, and one failure opens it for twice as long", () => {
    const one = endpoint();
    for (let i = 0; i < 3; i += 1) one.hears(answered(500));
    expect(circuitOf(one.health, NOW + 9_999)).toBe("open");
    expect(circuitOf(one.health, NOW + 10_000)).toBe("half_open");
    expect(one.health.allowance).toBe(1);
    const again = one.hears(answered(500), NOW + 10_000);
    expect(again.probeAtMs).toBe(NOW + 30_000);
  });

  it("never pauses for longer than five minutes", () => {
    const one = endpoint();
    let now = NOW;
    for (let i = 0; i < 60; i += 1) {
      now = Math.max(now, one.health.probeAtMs ?? 0);
      one.hears(answered(500), now);
    }
    expect((one.health.probeAtMs ?? 0) - now).toBe(300_000);
  });

  it("closes gradually: one, two, four in flight, then the full limit", () => {
    const one = endpoint({ maxInFlight: 5 });
    for (let i = 0; i < 3; i += 1) one.hears(answered(500));
    const now = NOW + 10_000;
    expect(one.hears(answered(200), now).allowance).toBe(2);
    expect(circuitOf(one.health, now)).toBe("half_open");
    expect(one.hears(answered(200), now).allowance).toBe(4);
    expect(one.hears(answered(200), now)).toBe(HEALTHY);
  });

  it("closes with the first success of an endpoint whose cap is one", () => {
    const one = endpoint({ maxInFlight: 1 });
    for (let i = 0; i < 3; i += 1) one.hears(answered(500));
    expect(one.hears(answered(200), NOW + 10_000)).toBe(HEALTHY);
  });

  it("opens again when an attempt on the ramp fails", () => {
    const one = endpoint();
    for (let i = 0; i < 3; i += 1) one.hears(answered(500));
    one.hears(answered(200), NOW + 10_000);
    const health = one.hears(answered(500), NOW + 10_001);
    expect(circuitOf(health, NOW + 10_001)).toBe("open");
    expect(health.allowance).toBe(1);
  });

  it("begins with the first pause again once a probe has succeeded", () => {
    const one = endpoint();
    for (let i = 0; i < 3; i += 1) one.hears(answered(500));
    one.hears(answered(500), NOW + 10_000);
    const probeAt = one.health.probeAtMs as number;
    one.hears(answered(200), probeAt);
    expect(one.hears(answered(500), probeAt).probeAtMs).toBe(probeAt + 10_000);
  });

  it("is not opened twice by attempts that were in flight when it opened", () => {
    const one = endpoint();
    for (let i = 0; i < 5; i += 1) one.hears(answered(500));
    expect(one.health).toMatchObject({ trips: 1, probeAtMs: NOW + 10_000, consecutiveFailures: 5 });
  });

  it("probes at once when such an attempt succeeds", () => {
    const one = endpoint();
    for (let i = 0; i < 3; i += 1) one.hears(answered(500));
    const health = one.hears(answered(200), NOW + 5);
    expect(circuitOf(health, NOW + 5)).toBe("half_open");
    expect(health.allowance).toBe(1);
  });

  it("continues from its stored state under the next owner, half open unless closed", () => {
    const { allowance: _, ...recorded } = endpoint().hears(answered(500));
    expect(restoreHealth(recorded).allowance).toBe(Number.POSITIVE_INFINITY);
    expect(restoreHealth({ ...recorded, probeAtMs: NOW }).allowance).toBe(1);
    expect(restoreHealth(null)).toBe(HEALTHY);
  });
});

describe("throttle", () => {
  it.each([
    ["seconds", "30", 30_000],
    ["a date", "Thu, 01 Jan 2026 00:00:07 GMT", 7_000],
    ["more than an hour", "86400", MAX_THROTTLE_MS],
    ["exactly an hour", "3600", MAX_THROTTLE_MS],
    ["nothing, or junk", "soon", 1_000],
  ])("429 with Retry-After of %s", (_, header, ms) => {
    expect(blockedUntilMs(endpoint().hears(answered(429, header)))).toBe(NOW + ms);
  });

  it("doubles without Retry-After, up to a minute, and is over with a success", () => {
    const one = endpoint();
    const pauses = Array.from(
      { length: 8 },
      (_, n) => blockedUntilMs(one.hears(answered(429), NOW + n * DAY)) - n * DAY,
    );
    expect(pauses.map((at) => (at - NOW) / 1_000)).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
    expect(one.hears(answered(200))).toBe(HEALTHY);
    expect(blockedUntilMs(one.hears(answered(429)))).toBe(NOW + 1_000);
  });

  it("429 is no failure, 503 is one and throttles too", () => {
    expect(endpoint().hears(answered(429, "5"))).toMatchObject({
      consecutiveFailures: 0,
      failingSinceMs: NOW,
    });
    expect(endpoint().hears(answered(503, "5"))).toMatchObject({
      consecutiveFailures: 1,
      throttledUntilMs: NOW + 5_000,
    });
  });

  it("503 without Retry-After pauses for a tenth of a second at first, and doubles", () => {
    const one = endpoint({ changed: { circuitFailures: 0 } });
    const pauses = [0, 1, 2].map((n) => blockedUntilMs(one.hears(answered(503), NOW + n * DAY)) - n * DAY);
    expect(pauses.map((at) => at - NOW)).toEqual([100, 200, 400]);
  });

  it("several responses of one moment count once", () => {
    const one = endpoint();
    for (let i = 0; i < 5; i += 1) one.hears(answered(429));
    expect(one.health).toMatchObject({ throttles: 1, throttledUntilMs: NOW + 1_000 });
  });

  it("a success that was in flight when the receiver asked for a pause does not end it", () => {
    const one = endpoint();
    one.hears(answered(429, "60"));
    one.hears(answered(200), NOW + 10);
    expect(one.health).toMatchObject({ throttledUntilMs: NOW + 60_000, lastError: null });
    expect(one.hears(answered(200), NOW + 60_000)).toBe(HEALTHY);
  });

  it("nor does it when the circuit was open too", () => {
    const one = endpoint();
    for (let i = 0; i < 3; i += 1) one.hears(answered(503, "60"));
    const health = one.hears(answered(200), NOW + 10);
    expect(circuitOf(health, NOW + 10)).toBe("half_open");
    expect(blockedUntilMs(health)).toBe(NOW + 60_000);
  });

  it("a pause that the receiver did not ask for ends with the first success", () => {
    const one = endpoint();
    one.hears(answered(503));
    expect(one.hears(answered(200), NOW + 10)).toBe(HEALTHY);
  });

  it("a later and shorter Retry-After does not shorten the pause", () => {
    const one = endpoint();
    one.hears(answered(429, "60"));
    expect(blockedUntilMs(one.hears(answered(429, "1")))).toBe(NOW + 60_000);
  });
});

describe("what counts", () => {
  it.each<[string, AttemptOutcome, string]>([
    ["a 500", answered(500), "HTTP 500"],
    ["a 401", answered(401), "HTTP 401"],
    ["a redirect", answered(302), "HTTP 302"],
    ["a 409 that does not say when", answered(409), "HTTP 409"],
    ["a timeout", failed("timeout"), "timeout"],
    ["an address that is not allowed", failed("blocked_address"), "blocked_address"],
    ["a request that cannot be made", failed("invalid_request"), "invalid_request"],
  ])("%s is a failure", (_, outcome, lastError) => {
    expect(endpoint().hears(outcome)).toMatchObject({
      consecutiveFailures: 1,
      failingSinceMs: NOW,
      lastError,
    });
  });

  it.each<[string, AttemptOutcome]>([
    ["a 409 with Retry-After", answered(409, "5")],
    ["a key that is missing here", failed("not_signed")],
  ])("%s reveals nothing about the endpoint", (_, outcome) => {
    expect(endpoint().hears(outcome)).toBe(HEALTHY);
  });
});

describe("disabling", () => {
  const failing = (consecutiveFailures: number, failingSinceMs = NOW): EndpointHealth => ({
    ...HEALTHY,
    consecutiveFailures,
    failingSinceMs,
  });

  it("comes with the fiftieth failure in a row, not with the one before", () => {
    expect(disableCause(failing(49), NOW, rules)).toBeNull();
    expect(disableCause(failing(50), NOW, rules)).toBe("failures");
  });

  it("comes after five days without success, not a moment earlier", () => {
    expect(disableCause(failing(10), NOW + 5 * DAY - 1, rules)).toBeNull();
    expect(disableCause(failing(10), NOW + 5 * DAY, rules)).toBe("no_success");
  });

  it("does not take two failures in five days for five days of failing", () => {
    expect(disableCause(failing(9), NOW + 5 * DAY, rules)).toBeNull();
  });

  it("counts throttles over the days, though they are no failures", () => {
    expect(disableCause({ ...failing(0), throttles: 10 }, NOW + 5 * DAY, rules)).toBe("no_success");
  });

  it("is off with zero", () => {
    const never = { ...rules, disableAfterFailures: 0, disableAfterDays: 0 };
    expect(disableCause(failing(1_000_000), NOW + 400 * DAY, never)).toBeNull();
  });
});

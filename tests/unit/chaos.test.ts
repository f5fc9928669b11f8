// Checks the chaos test itself: for each invariant there is evidence that violates it and no other invariant.
import { readFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { countersIn } from "../../chaos/evidence/collect.ts";
import { leftOver } from "../../chaos/evidence/convergence.ts";
import {
  type Evidence,
  type InjectedFault,
  indexEvidence,
  type LedgerAttempt,
  type Publish,
  type ReceivedRequest,
} from "../../chaos/evidence/evidence.ts";
import { figuresOf, lineOf } from "../../chaos/evidence/figures.ts";
import { givenTime } from "../../chaos/evidence/given-time.ts";
import { faultKinds, planFaults } from "../../chaos/faults/faults.ts";
import { liveness } from "../../chaos/invariants/liveness.ts";
import { invariants, judgeAll } from "../../chaos/invariants.ts";
import { readOptions, smokeScale } from "../../chaos/options.ts";
import { editsOf, plantNames, plants } from "../../chaos/plant.ts";

const scale = smokeScale(40);
const memory = { api: 100_000_000, worker: 200_000_000 };

/** Two events to two endpoints of two tenants; one of them failed first. */
function soundEvidence(): Mutable<Evidence> {
  return {
    scale,
    endpoints: [
      { name: "r1", id: "ep_1", tenant: "north", events: ["*"], maxInFlight: 2, isOrdered: true },
      { name: "r2", id: "ep_2", tenant: "east", events: ["order.*"], maxInFlight: 2, isOrdered: false },
    ],
    publishes: [publish("h1-1", "north", "evt_1"), publish("library-1", "east", "evt_2")],
    requests: [
      request("r1", "h1-1", "evt_1", 1, 1_000, { status: 500 }),
      request("r1", "h1-1", "evt_1", 2, 1_300, { sender: "w2.1" }),
      request("r2", "library-1", "evt_2", 1, 500),
    ],
    deliveries: [
      { id: "dlv_evt_1", eventId: "evt_1", endpointId: "ep_1", state: "success", attempts: 2 },
      { id: "dlv_evt_2", eventId: "evt_2", endpointId: "ep_2", state: "success", attempts: 1 },
    ],
    attempts: [
      { ...attempt("dlv_evt_1", 1, 500), startedAt: 1_000, durationMs: 10, nextRetryAt: 1_250 },
      attempt("dlv_evt_1", 2, 200),
      attempt("dlv_evt_2", 1, 200),
    ],
    events: [
      { id: "evt_1", key: "h1-1" },
      { id: "evt_2", key: "library-1" },
    ],
    orders: [{ key: "library-1", eventId: "evt_2" }],
    health: [],
    // of an idle process, so that changes to the others do not affect it
    counters: [{ process: "w9.1", responded: 0, succeeded: 0 }],
    injectedFaults: [],
    stalls: [],
    processor: [],
    exits: [],
    unexpectedOutput: [],
    canaryHits: [],
    baseline: { from: 0, until: 900, memory },
    blackHole: { from: 900, until: 2_000, endpoint: "r2" },
    healedAt: 50_000,
    convergedAt: 51_000,
    unsettled: [],
    final: { from: 60_000, until: 65_000, memory: { api: 150_000_000, worker: 300_000_000 } },
  };
}

function publish(key: string, tenant: string, id: string): Publish {
  const about = { key, publisher: "h1", tenant, type: "order.paid", subject: "s", sha256: `bytes of ${key}` };
  return { ...about, fate: "acknowledged", ids: [id], acknowledgedAt: 400 };
}

function request(
  endpoint: string,
  key: string,
  eventId: string,
  number: number,
  arrivedAt: number,
  more: Partial<ReceivedRequest> = {},
): ReceivedRequest {
  const signedFor = { "t-v1": [endpoint], "standard-webhooks": [endpoint] };
  return {
    endpoint,
    eventId,
    deliveryId: `dlv_${eventId}`,
    attempt: number,
    sender: "w1.1",
    arrivedAt,
    behaviour: "ok",
    endedAt: arrivedAt + 10,
    respondedAt: arrivedAt + 10,
    status: 200,
    retryAfterMs: null,
    content: {
      key,
      tenant: endpoint === "r1" ? "north" : "east",
      subject: "s",
      sequence: Number(eventId.slice("evt_".length)),
      sha256: `bytes of ${key}`,
      signedFor,
      timestampAheadMs: -400,
    },
    ...more,
  };
}

function attempt(deliveryId: string, number: number, statusCode: number): LedgerAttempt {
  const unknown = { startedAt: null, durationMs: null, nextRetryAt: null };
  return { deliveryId, number, statusCode, error: null, ...unknown };
}

type Mutable<Type> = {
  -readonly [Key in keyof Type]: Type[Key] extends readonly (infer Item)[] ? Item[] : Type[Key];
};
type Tampering = (evidence: Mutable<Evidence>) => void;

/** Changes an item of a list. */
function patch<Item>(items: Item[], index: number, change: Partial<Item>): void {
  items[index] = { ...(items[index] as Item), ...change };
}

function patchContent({ requests }: Mutable<Evidence>, index: number, change: object): void {
  requests[index] = {
    ...requests[index],
    content: { ...requests[index]?.content, ...change },
  } as ReceivedRequest;
}

const unanswered = { statusCode: null, error: "unknown" } as const;

/** Three times the waiting time of r1 in the baseline. */
const longestWaitMs = 3 * 500;

/** Excuses a late attempt for liveness, but not for latency. */
const circuitOpen = { endpointId: "ep_1", at: 10_000, isCircuitOpen: true, throttledUntil: null };

function waitForFirst(it: Mutable<Evidence>, waitedMs: number): void {
  it.publishes.push({ ...publish("h1-3", "north", "evt_3"), acknowledgedAt: 10_000 });
  it.requests.push(request("r1", "h1-3", "evt_3", 1, 10_000 + waitedMs));
  it.attempts.push(attempt("dlv_evt_3", 1, 200));
  it.health.push(circuitOpen);
}

/** The promised second and the tolerance. */
const longestLateMs = 2_000;

function retryLate(it: Mutable<Evidence>, lateMs: number): void {
  it.requests[1] = request("r1", "h1-1", "evt_1", 2, 1_250 + lateMs, { sender: "w1.1" });
}

/** Lease, poll and tolerance. */
const longestRecoveryMs = scale.leaseMs + 2_000;

function killFirst(it: Mutable<Evidence>, againAfterMs: number): void {
  const killed = { status: null, respondedAt: null, endedAt: 1_051 };
  it.requests[0] = request("r1", "h1-1", "evt_1", 1, 1_000, killed);
  it.attempts[0] = { ...attempt("dlv_evt_1", 1, 0), ...unanswered };
  it.requests[1] = request("r1", "h1-1", "evt_1", 2, 1_050 + againAfterMs, { sender: "w2.1" });
  const signalSent = { signal: "SIGKILL" as const, at: 1_050 };
  it.exits.push({ name: "w1.1", at: 1_051, code: null, signal: "SIGKILL", wasReady: true, signalSent });
  it.injectedFaults.push({ kind: "kill worker", victim: "w1.1", at: 1_050, until: 1_051 });
}

const exit = { name: "w1.1", at: 2_100, code: 1, signal: null, wasReady: true };

/** By invariant, the ways to violate it. */
const tamperings: Readonly<Record<string, Readonly<Record<string, Tampering>>>> = {
  lost: {
    "an acknowledged event never arrives": (it) => it.publishes.push(publish("h2-9", "east", "evt_9")),
  },
  phantom: {
    "an event arrives that was never published": (it) => patchContent(it, 2, { key: "h1-77" }),
    "its bytes differ": (it) => patchContent(it, 2, { sha256: "other" }),
    "it is signed for no endpoint": (it) =>
      patchContent(it, 2, { signedFor: { "t-v1": ["r2"], "standard-webhooks": [] } }),
    "it is signed for two endpoints": (it) =>
      patchContent(it, 2, { signedFor: { "t-v1": ["r1", "r2"], "standard-webhooks": ["r2"] } }),
    "it was rolled back": (it) => patch(it.publishes, 0, { fate: "refused", ids: [] }),
  },
  partial: {
    "it reached one of two endpoints": (it) => {
      it.endpoints.push({ ...(it.endpoints[0] as Evidence["endpoints"][0]), name: "r3", id: "ep_3" });
      patch(it.publishes, 0, { fate: "open", ids: [] });
    },
  },
  idempotency: {
    "two acknowledgements differ": (it) => it.publishes[0]?.ids.push("evt_7"),
    "two events carry the key": (it) => it.events.push({ id: "evt_8", key: "h1-1" }),
  },
  "after success": {
    "the ledger has an attempt after it": (it) => {
      it.attempts.push({ ...attempt("dlv_evt_2", 2, 0), ...unanswered });
      patch(it.deliveries, 1, { attempts: 2 });
    },
  },
  duplicates: {
    "a 2xx is sent twice without an unknown outcome": (it) => {
      patch(it.requests, 0, { status: 200 });
      patch(it.attempts, 0, { statusCode: null, error: "connection_refused", nextRetryAt: null });
    },
  },
  baseline: {
    "something is sent twice in the baseline": (it) =>
      Object.assign(it, { baseline: { from: 0, until: 2_000, memory } }),
    "something is sent twice in the final phase": (it) =>
      Object.assign(it, { final: { from: 900, until: 2_000, memory } }),
  },
  "single flight": {
    "the next attempt comes while the first is open": (it) => patch(it.requests, 0, { endedAt: 1_400 }),
  },
  order: {
    "a later sequence arrives before an earlier one was accepted": (it) => {
      it.publishes.push(publish("h1-2", "north", "evt_3"));
      it.events.push({ id: "evt_3", key: "h1-2" });
      it.requests.push(request("r1", "h1-2", "evt_3", 1, 1_100));
      it.attempts.push(attempt("dlv_evt_3", 1, 200));
    },
    "an event has no sequence": (it) => patchContent(it, 0, { sequence: null }),
  },
  ledger: {
    "a request is not in the ledger": (it) =>
      it.requests.push(request("r2", "library-1", "evt_2", 1, 950, { status: null, respondedAt: null })),
    "the ledger has a response that no receiver sent": (it) => patch(it.attempts, 0, { statusCode: 503 }),
  },
  numbers: {
    "a number is missing": (it) => {
      patch(it.attempts, 0, { number: 0, statusCode: null, error: "timeout" });
      it.requests.shift();
    },
    "the count of attempts is wrong": (it) => patch(it.deliveries, 0, { attempts: 3 }),
    "a success has no 2xx": (it) => patch(it.deliveries, 0, { state: "failed" }),
  },
  schedule: {
    "a retry comes early": (it) => {
      it.requests[1] = request("r1", "h1-1", "evt_1", 2, 1_100);
    },
    "a retry comes before Retry-After": (it) => patch(it.requests, 0, { retryAfterMs: 1_000 }),
  },
  liveness: {
    "a retry comes late": (it) => retryLate(it, longestLateMs + 1),
    "a first attempt comes late": (it) => patch(it.publishes, 1, { acknowledgedAt: 500 - longestLateMs - 1 }),
  },
  recovery: {
    "an interrupted request is repeated too late": (it) => killFirst(it, longestRecoveryMs + 1),
    "an interrupted request is never repeated": (it) => {
      killFirst(it, 0);
      it.requests.splice(1, 1);
      patch(it.attempts, 1, { statusCode: null, error: "timeout" });
      patch(it.deliveries, 0, { state: "failed" });
      patch(it.publishes, 0, { fate: "open" });
    },
  },
  convergence: {
    "a delivery stays queued": (it) => {
      it.convergedAt = null;
      it.unsettled.push("1 deliveries are queued");
    },
  },
  latency: {
    "a healthy endpoint waits while another one hangs": (it) => {
      it.blackHole = { from: 10_000, until: 14_000, endpoint: "r2" };
      waitForFirst(it, longestWaitMs + 1);
    },
    "an endpoint waits in the final phase": (it) => {
      it.final = { from: 10_000, until: 14_000, memory };
      waitForFirst(it, longestWaitMs + 1);
    },
  },
  memory: {
    "an API process grows by more than half": (it) =>
      Object.assign(it, { final: { from: 60_000, until: 65_000, memory: { ...memory, api: 150_000_001 } } }),
    "a worker process grows by more than half": (it) =>
      Object.assign(it, {
        final: { from: 60_000, until: 65_000, memory: { ...memory, worker: 300_000_001 } },
      }),
  },
  isolation: {
    "an endpoint gets another tenant's event": (it) => patchContent(it, 2, { tenant: "north" }),
  },
  cap: {
    "an endpoint has more open requests than its limit": (it) => {
      for (const number of [4, 5, 6]) {
        const id = `evt_${number}`;
        it.publishes.push({ ...publish(`h1-${number}`, "east", id), acknowledgedAt: 3_000 });
        it.requests.push(request("r2", `h1-${number}`, id, 1, 3_000 + number, { endedAt: 3_500 }));
        it.attempts.push(attempt(`dlv_${id}`, 1, 200));
      }
    },
  },
  exits: {
    "a process exits unexpectedly": (it) => it.exits.push({ ...exit, signalSent: null }),
    "a process does not stop gracefully on SIGTERM": (it) =>
      it.exits.push({ ...exit, signalSent: { signal: "SIGTERM", at: 2_000 } }),
    "a process logs an error": (it) =>
      it.unexpectedOutput.push("w1.1: TypeError: undefined is not a function"),
  },
  "business rows": {
    "an order has no event": (it) => it.orders.push({ key: "library-9", eventId: "evt_9" }),
    "an event has no order": (it) => it.orders.pop(),
  },
  timestamps: {
    "a signed time is an hour ahead": (it) => patchContent(it, 2, { timestampAheadMs: 3_600_000 }),
  },
  counters: {
    "a process counts fewer than the ledger has of it": (it) => patch(it.counters, 0, { process: "w2.1" }),
    "a process counts more than receivers responded to": (it) =>
      patch(it.counters, 0, { process: "w2.1", responded: 2, succeeded: 1 }),
    "a process counts a failure as a success": (it) =>
      patch(it.counters, 0, { process: "w1.1", responded: 2, succeeded: 2 }),
  },
  canaries: {
    "a forbidden address is dialled": (it) => it.canaryHits.push("127.0.0.9"),
  },
};

const brokenBy = (evidence: Evidence): string[] =>
  judgeAll(indexEvidence(evidence)).flatMap(({ name, counterExamples }) =>
    counterExamples.length > 0 ? name : [],
  );

test("valid evidence violates no invariant, and every invariant has evidence that violates it", () => {
  expect(brokenBy(soundEvidence())).toEqual([]);
  expect(Object.keys(tamperings).toSorted()).toEqual(Object.keys(invariants).toSorted());
});

for (const [name, ways] of Object.entries(tamperings)) {
  for (const [what, tamper] of Object.entries(ways)) {
    test(`only the invariant "${name}" is violated when ${what}`, () => {
      const evidence = soundEvidence();
      tamper(evidence);
      expect(brokenBy(evidence)).toEqual([name]);
    });
  }
}

test("counters may include a response that could not be recorded, and are not checked before convergence", () => {
  const evidence = soundEvidence();
  evidence.counters[0] = { process: "w2.1", responded: 1, succeeded: 1 };
  patch(evidence.attempts, 1, unanswered);
  const countersOf = (it: Evidence) => brokenBy(it).filter((name) => name === "counters");
  expect(countersOf(evidence)).toEqual([]);
  evidence.counters[0] = { process: "w2.1", responded: 7, succeeded: 7 };
  expect(countersOf(evidence)).toEqual(["counters"]);
  expect(countersOf({ ...evidence, convergedAt: null })).toEqual([]);
});

test("counters are summed over the endpoints in a process's metrics", () => {
  const text = [
    'webhook_delivery_attempts_total{endpoint="ep_1",outcome="success"} 3',
    'webhook_delivery_attempts_total{endpoint="other",outcome="success"} 4',
    'webhook_delivery_attempts_total{endpoint="ep_1",outcome="http_5xx"} 2',
    'webhook_delivery_attempts_total{endpoint="ep_1",outcome="timeout"} 9',
    "",
  ].join("\n");
  expect(countersIn(text)).toEqual({ responded: 9, succeeded: 7 });
});

test("a frozen worker's request may arrive while its successor's is open", () => {
  const evidence = soundEvidence();
  evidence.requests[0] = request("r1", "h1-1", "evt_1", 1, 1_400);
  evidence.requests[1] = request("r1", "h1-1", "evt_1", 2, 1_300, { sender: "w2.1", endedAt: 1_500 });
  evidence.attempts[0] = { ...attempt("dlv_evt_1", 1, 0), ...unanswered };
  expect(brokenBy(evidence)).toEqual([]);
  patch(evidence.attempts, 0, { error: "timeout" });
  expect(brokenBy(evidence)).toEqual(["single flight"]);
});

test("an endpoint may wait up to the limit, and the one that hangs may wait longer", () => {
  const evidence = soundEvidence();
  evidence.blackHole = { from: 10_000, until: 14_000, endpoint: "r2" };
  waitForFirst(evidence, longestWaitMs);
  expect(brokenBy(evidence)).toEqual([]);
  evidence.blackHole = { ...evidence.blackHole, endpoint: "r1" };
  evidence.requests[3] = request("r1", "h1-3", "evt_3", 1, 13_000);
  expect(brokenBy(evidence)).toEqual([]);
});

test("a retry may be late up to the limit, and longer during a fault of the database", () => {
  const evidence = soundEvidence();
  retryLate(evidence, longestLateMs);
  expect(liveness(indexEvidence(evidence))).toEqual([]);
  retryLate(evidence, longestLateMs + 3_000);
  evidence.injectedFaults.push({ kind: "read only", victim: null, at: 1_300, until: 2_500 });
  expect(liveness(indexEvidence(evidence))).toEqual([]);
});

test("while the machine gives half of the processor time, waits may take twice as long, and not longer", () => {
  const evidence = soundEvidence();
  evidence.processor.push(
    { from: 1_200, until: 6_000, share: 0.5 },
    { from: 10_000, until: 20_000, share: 0.5 },
  );
  retryLate(evidence, 2 * longestLateMs);
  evidence.blackHole = { from: 10_000, until: 20_000, endpoint: "r2" };
  waitForFirst(evidence, 2 * longestWaitMs);
  expect(brokenBy(evidence)).toEqual([]);
  retryLate(evidence, 2 * longestLateMs + 2);
  expect(brokenBy(evidence)).toEqual(["liveness"]);
  retryLate(evidence, 2 * longestLateMs);
  evidence.requests[3] = request("r1", "h1-3", "evt_3", 1, 10_000 + 2 * longestWaitMs + 2);
  expect(brokenBy(evidence)).toEqual(["latency"]);
});

test("a process that gets less time than the grace period from the machine may end with an error", () => {
  const evidence = soundEvidence();
  const signalSent = { signal: "SIGTERM" as const, at: 100_000 };
  evidence.exits.push({ ...exit, at: 108_000, signalSent });
  expect(brokenBy(evidence)).toEqual(["exits"]);
  evidence.processor.push({ from: 100_000, until: 108_000, share: 0.6 });
  expect(brokenBy(evidence)).toEqual([]);
  patch(evidence.processor, 0, { share: 0.7 });
  expect(brokenBy(evidence)).toEqual(["exits"]);
  patch(evidence.processor, 0, { share: 0.1 });
  patch(evidence.exits, 0, { at: 104_000 });
  expect(brokenBy(evidence)).toEqual(["exits"]);
});

test("time without samples counts in full, and time in samples by their share", () => {
  const givenMs = givenTime([
    { from: 100, until: 200, share: 0.25 },
    { from: 200, until: 300, share: 0.5 },
    { from: 400, until: 500, share: 0 },
  ]);
  expect(givenMs({ from: 0, until: 100 })).toBe(100);
  expect(givenMs({ from: 100, until: 300 })).toBe(75);
  expect(givenMs({ from: 150, until: 250 })).toBe(37.5);
  expect(givenMs({ from: 250, until: 350 })).toBe(75);
  expect(givenMs({ from: 0, until: 1_000 })).toBe(775);
  expect(givenMs({ from: 450, until: Number.POSITIVE_INFINITY })).toBe(Number.POSITIVE_INFINITY);
  expect(givenTime([])({ from: 5, until: 9 })).toBe(4);
});

test.each<[string, Omit<InjectedFault, "at" | "until">]>([
  ["a fault of another worker", { kind: "kill worker", victim: "w3.1" }],
  ["a fault of an API process", { kind: "kill api", victim: "a1.1" }],
  ["a clock that jumps", { kind: "jump clock", victim: "w1.1" }],
])("%s does not excuse a late retry", (_, fault) => {
  const evidence = soundEvidence();
  retryLate(evidence, longestLateMs + 1);
  evidence.injectedFaults.push({ ...fault, at: 1_300, until: 2_500 });
  expect(brokenBy(evidence)).toEqual(["liveness"]);
});

test("an interrupted request may be repeated up to the limit, and later if the next worker had a fault too", () => {
  const evidence = soundEvidence();
  killFirst(evidence, longestRecoveryMs);
  expect(brokenBy(evidence)).toEqual([]);
  evidence.requests[1] = request("r1", "h1-1", "evt_1", 2, 9_000, { sender: "w3.1" });
  const fault = { kind: "freeze worker" as const, at: 2_000, until: 4_500 };
  evidence.injectedFaults.push({ ...fault, victim: "w2.1" });
  expect(brokenBy(evidence)).toEqual([]);
  evidence.injectedFaults[1] = { ...fault, victim: "a1.1" };
  expect(brokenBy(evidence)).toEqual(["recovery"]);
});

test("connections may be as many as all pools have, and not more", () => {
  expect(leftOver(74, 74)).toEqual([]);
  expect(leftOver(75, 74)).toEqual(["75 connections to the database are open; all pools together have 74"]);
});

test("the last line has the figures", () => {
  const evidence = soundEvidence();
  expect(figuresOf(indexEvidence(evidence)).recoverP99Ms).toBeNull();
  killFirst(evidence, 2_600);
  expect(lineOf(7, figuresOf(indexEvidence(evidence)))).toBe(
    `seed 7: acked 2, delivered 2, lost 0, phantom 0, dup 0 (bound 1), order 0, recover p99 2.6 s, kills 1, pg restarts 0`,
  );
});

test("the guide lists every invariant, and every planted bug with the invariant it violates", () => {
  const guide = readFileSync(new URL("../../docs/guides/chaos.md", import.meta.url), "utf8");
  const listed = [...guide.matchAll(/^\| (.+) \| (.+) \|$/gm)].map((match) => match.slice(1));
  expect(listed.slice(1)).toEqual(Object.entries(invariants).map(([name, [sentence]]) => [name, sentence]));
  const bugs = [...guide.matchAll(/^- `([a-z-]+)` \((.+?)\): (.+)$/gm)].map((match) => match.slice(1));
  expect(bugs).toEqual(Object.entries(plants).map(([name, { bug, breaks }]) => [name, breaks, bug]));
  expect(Object.values(plants).filter(({ breaks }) => !(breaks in invariants))).toEqual([]);
});

test("a seed determines the plan: first a kill with time to recover, then every kind of fault", () => {
  expect(planFaults(7, scale, faultKinds)).toEqual(planFaults(7, scale, faultKinds));
  expect(planFaults(8, scale, faultKinds)).not.toEqual(planFaults(7, scale, faultKinds));
  for (let seed = 1; seed <= 50; seed += 1) {
    const plan = planFaults(seed, scale, faultKinds);
    const [first, second] = plan;
    expect(first?.kind).toBe("kill worker");
    expect((second?.afterMs as number) - (first?.afterMs as number)).toBeGreaterThan(longestRecoveryMs);
    const kinds = new Set(plan.map(({ kind }) => kind));
    expect(faultKinds.filter((kind) => !kinds.has(kind))).toEqual([]);
  }
});

test.each(plantNames)("the text that %s replaces occurs exactly once in the sources", (name) => {
  expect(editsOf(name).length).toBeGreaterThan(0);
});

test.each([
  [["--sed", "7"], "Unknown option '--sed'"],
  [["--seconds", "59"], '--seconds must be a whole number from 60 to 3600; it is "59".'],
  [["--seconds", "3601"], '--seconds must be a whole number from 60 to 3600; it is "3601".'],
  [["--smoke", "--seconds", "90"], "--smoke cannot be combined with --seconds."],
  [["7"], "Unexpected argument '7'"],
])("npm run chaos -- %j is rejected", (args, message) => {
  const printed = vi.spyOn(console, "error").mockImplementation(() => {});
  const options = readOptions(args);
  process.exitCode = undefined;
  expect(options).toBeNull();
  expect(printed).toHaveBeenCalledWith(expect.stringContaining(message));
  printed.mockRestore();
});

test("npm run chaos accepts values at its limits", () => {
  expect(readOptions(["--seed", "7", "--seconds", "60", "--rate", "1000"])).toMatchObject({
    seed: 7,
    scale: { chaosMs: 20_000, eventsPerSecond: 1_000 },
    plant: null,
  });
});

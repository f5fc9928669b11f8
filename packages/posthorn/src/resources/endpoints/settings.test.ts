import { generateSigningKey, RETRY_PRESETS } from "@posthorn/wire";
import { expect, test } from "vitest";
import { PUBLIC_ONLY } from "../../attempt/guard/guard-address.ts";
import { NO_FINDINGS } from "../../attempt/guard/look-up-hosts.ts";
import { PosthornError } from "../../errors.ts";
import { OptionCheck } from "../../option-checks.ts";
import { effectiveSettings } from "./effective-settings.ts";
import { readEndpointDefaults } from "./endpoint-defaults.ts";
import { parseEndpointInput, parseEndpointPatch, type SettingsContext } from "./settings.ts";

const context: SettingsContext = {
  addressPolicy: PUBLIC_ONLY,
  hosts: NO_FINDINGS,
  defaults: {
    ...readEndpointDefaults(new OptionCheck(), {}),
    formatContext: { source: "/tenants/{tenant}", datarefBase: "" },
  },
  typeProblem: () => null,
};
const minimal = { url: "https://example.com/hooks", events: ["*"] };

test("a conflict of schemes names the header with the prefix of the deployment, or of the endpoint", () => {
  const signature = { schemes: ["t-v1"], headerPrefix: "X-Acme" };
  const prefixed = { ...context, defaults: { ...context.defaults, signature } };
  const refused = (given: object) => {
    try {
      return parseEndpointInput({ ...minimal, signature: given } as never, prefixed);
    } catch (error) {
      return (error as PosthornError).problems;
    }
  };
  const conflict = (header: string, pointer = "/signature/schemes") => [
    {
      pointer,
      message: `The signature schemes "t-v1" and "sha256:v2" both write ${header}; choose one.`,
    },
  ];
  const schemes = ["t-v1", "sha256:v2"];
  expect(refused({ schemes })).toEqual(conflict("X-Acme-Signature"));
  expect(refused({ schemes, headerPrefix: "X-Own" })).toEqual(conflict("X-Own-Signature"));
  expect(refused({ schemes: ["t-v1", "github"], headerPrefix: "X-GitHub" })).toEqual([
    {
      pointer: "/signature/schemes",
      message: `The header prefix makes X-GitHub-Event, which the signature scheme "github" writes; choose another.`,
    },
  ]);
});

test("an unknown event type is refused if it is new, a pattern never", () => {
  const strict = { ...context, typeProblem: (type: string) => (type === "a.b" ? null : `no ${type}`) };
  const events = ["c.*", "a.b", "a.b", "a.c", "*"];
  expect(parseEndpointInput({ ...minimal, events }, context).settings.events).toEqual([...new Set(events)]);
  expect(problemsOf(() => parseEndpointInput({ ...minimal, events }, strict))).toEqual([
    { pointer: "/events/3", message: "no a.c" },
  ]);
  const { settings } = parseEndpointInput({ ...minimal, events: ["a.c"] }, context);
  expect(parseEndpointPatch({ events: ["a.b", "a.c"] }, settings, strict).events).toEqual(["a.b", "a.c"]);
  expect(problemsOf(() => parseEndpointPatch({ events: ["a.c", "a.d"] }, settings, strict))).toMatchObject([
    { pointer: "/events/1" },
  ]);
});

test("a URL is stored as it is sent: without a fragment or an empty query", () => {
  const kept = (url: string) => parseEndpointInput({ ...minimal, url }, context).settings.url;
  expect([kept("https://example.com/a?#b"), kept("https://example.com/a?b?")]).toEqual([
    "https://example.com/a",
    "https://example.com/a?b?",
  ]);
});

test("a key pair with a mismatched public key is refused", async () => {
  const signature = { schemes: ["standard-webhooks-v1a"] };
  const [one, other] = [(await generateSigningKey()).signingKey, (await generateSigningKey()).signingKey];
  const bytes = (key: string) => Buffer.from(key.slice("whsk_".length), "base64");
  const mixed = Buffer.concat([bytes(one).subarray(0, 32), bytes(other).subarray(32)]);
  const secret = `whsk_${mixed.toString("base64")}`;
  expect(problemsOf(() => parseEndpointInput({ ...minimal, signature, secret }, context))).toMatchObject([
    { pointer: "/secret", message: expect.stringContaining("does not match its seed") },
  ]);
  expect(parseEndpointInput({ ...minimal, signature, secret: one }, context).secret?.value).toBe(one);
});

const patterns = (count: number) => Array.from({ length: count }, (_, n) => `a.b${n}`);
const manyGaps = (count: number) => ({ gaps: Array(count).fill("1s") });
const limited = (maxAttempts: number) => ({ preset: "courier", maxAttempts });
const exponential = (base: string, maxAttempts: number) => ({
  exponential: { base, cap: "1m", maxAttempts },
});

test.each<[path: string, accepted: readonly unknown[], refused: readonly unknown[]]>([
  ["events", [patterns(1), patterns(100)], [patterns(0), patterns(101), "*"]],
  ["events/0", ["*", "order.*", "a.b_2.c"], ["order.**", "*.paid", "", "order.", "order.paid "]],
  ["events/0", [`${"a".repeat(128)}.*`], [`${"a".repeat(129)}.*`]],
  [
    "name",
    ["x", "x".repeat(100), "Ärger & Söhne"],
    ["", " ", "x".repeat(101), "a\nb", "a\u0000", "\u2028", 1],
  ],
  ["description", ["x".repeat(500)], ["x".repeat(501)]],
  ["timeoutMs", [100, 60_000], [99, 60_001]],
  ["maxInFlight", [1, 100], [0, 101]],
  ["maxInFlightBurst", [1, 100], [0, 101]],
  ["rateLimit", [1, 10_000], [0, 10_001]],
  ["batch/maxEvents", [1, 1_000], [0, 1_001, 1.5]],
  ["batch/maxBytes", [1_024, 4_194_304], [1_023, 4_194_305]],
  ["batch/maxDelayMs", [10, 3_600_000], [9, 3_600_001]],
  ["envelopeFields/tenant_id", ["team_id"], ["id", "", "a b", 1]],
  ["envelopeFields/tenantId", [], ["team_id"]],
  ["circuitBreaker/failures", [0, 10_000], [-1, 10_001, 1.5]],
  ["circuitBreaker/failurePercent", [0, 100], [-1, 101]],
  ["circuitBreaker/failuresPerHour", [0, 10_000], [-1, 10_001]],
  ["circuitBreaker/pauseMs", [100, 3_600_000], [99, 3_600_001]],
  ["circuitBreaker/failure", [], [1]],
  ["disableAfter/failures", [0, 1_000_000], [-1, 1_000_001]],
  ["disableAfter/days", [0, 365], [-1, 366]],
  ["userAgent", ["a", "Acme (1)", "x".repeat(256)], ["", "x".repeat(257), "a\n", "ä", 1]],
  ["handshake/rate", [1, 600_000], [0, 600_001, 1.5]],
  ["retryPolicy", [manyGaps(100)], [manyGaps(101), 5, {}, { gaps: "1s" }, { gaps: ["courier"] }]],
  ["retryPolicy", [limited(1), limited(101)], [limited(0), limited(102), limited(1.5)]],
  ["retryPolicy", [], [{ preset: "couriers" }, { preset: "courier", gaps: ["1s"] }, { preset: 5 }]],
  ["retryPolicy", [{ gaps: [], maxAttempts: 1 }], [{ gaps: [], maxAttempts: 2 }]],
  ["retryPolicy", [], [{ ...exponential("1m", 4), maxAttempts: 4 }]],
  ["retryPolicy", [exponential("1m", 1)], [exponential("2m", 4), exponential("1m", 0)]],
  ["retryPolicy", [], [{ kind: "gaps", gapsMs: [-1] }, { kind: "other" }, { gaps: ["1s"], maxage: "1d" }]],
  ["url", ["https://example.com/"], ["http://10.0.0.1/"]],
  ["isActive", [false], ["yes"]],
  ["format", ["thin"], ["xml"]],
  ["signature/schemes", [["sha256"]], [["nope"]]],
  ["signature/headerPrefix", ["X-Acme"], ["X-Webhook-"]],
  ["signature/scheme", [], [[]]],
  ["headers/X-Team", ["a"], ["a\r\nb"]],
  ["headers/X-Webhook-Id", [], ["1"]],
  ["headers/Host", [], ["s3cret"]],
  ["retryOn", ["every"], ["never"]],
  ["ordering", ["fifo"], ["lifo"]],
  ["fifoOnDead", ["hold"], ["stop"]],
  ["secret", [], ["hunter2"]],
  ["secretEncoding", [], ["utf8", "text"]],
  ["is_active", [], [true]],
])("%s accepts values within its limits and rejects others", (path, accepted, refused) => {
  for (const value of accepted) parseEndpointInput(inputWith(path, value), context);
  for (const value of refused) {
    const problems = problemsOf(() => parseEndpointInput(inputWith(path, value), context));
    expect(problems).toMatchObject([{ pointer: `/${path}` }]);
    // values of headers may be secret
    expect(problems[0]?.message).not.toContain("s3cret");
  }
});

/** The smallest input with one more value, in an object or a list if the path has two parts. */
function inputWith(path: string, value: unknown): object {
  const [field = "", inner] = path.split("/");
  if (inner === undefined) return { ...minimal, [field]: value };
  const others = field === "handshake" ? { origin: "example.com" } : {};
  return { ...minimal, [field]: inner === "0" ? [value] : { ...others, [inner]: value } };
}

test.each([
  ["neither is set", {}, [5, 50]],
  ["only the limit is set", { maxInFlight: 1 }, [1, 1]],
  ["only the burst is set", { maxInFlightBurst: 20 }, [5, 20]],
  ["both are set", { maxInFlight: 80, maxInFlightBurst: 20 }, [80, 20]],
])("limit and burst if %s", (_, given, expected) => {
  const { settings } = parseEndpointInput({ ...minimal, ...given }, context);
  const { maxInFlight, maxInFlightBurst } = effectiveSettings(settings, context.defaults);
  expect([maxInFlight, maxInFlightBurst]).toEqual(expected);
});

test("a format written by a later version falls back to the deployment's", () => {
  const { settings } = parseEndpointInput({ ...minimal, format: "thin" }, context);
  expect(effectiveSettings(settings, context.defaults).format).toBe("thin");
  const later = { ...settings, format: "hologram" as never };
  expect(effectiveSettings(later, context.defaults).format).toBe(context.defaults.format);
});

test.each([
  ["a preset", "short", RETRY_PRESETS.short],
  ["gaps as text", "200ms,1s", { kind: "gaps", gapsMs: [200, 1_000] }],
  [
    "gaps as a list",
    { gaps: ["200ms", "1s"], maxAge: "1d" },
    { kind: "gaps", gapsMs: [200, 1_000], maxAgeMs: 86_400_000 },
  ],
  [
    "gaps of which the last is repeated",
    { gaps: ["1s", "5s"], maxAttempts: 5 },
    { kind: "gaps", gapsMs: [1_000, 5_000, 5_000, 5_000] },
  ],
  [
    "gaps of which the last are left out",
    { gaps: ["1s", "5s"], maxAttempts: 2 },
    { kind: "gaps", gapsMs: [1_000] },
  ],
  ["a preset by name", { preset: "short" }, RETRY_PRESETS.short],
  [
    "a preset with fewer attempts and a maximum age",
    { preset: "courier", maxAttempts: 5, maxAge: "72h" },
    { ...RETRY_PRESETS["five-attempts"], maxAgeMs: 259_200_000 },
  ],
  [
    "a preset that grows with more attempts",
    { preset: "exponential", maxAttempts: 20 },
    { ...RETRY_PRESETS.exponential, maxAttempts: 20 },
  ],
  ["no gaps", { gaps: [] }, { kind: "gaps", gapsMs: [] }],
  [
    "exponential",
    { exponential: { base: "1s", cap: "1m", maxAttempts: 4 } },
    { kind: "exponential", baseMs: 1_000, capMs: 60_000, maxAttempts: 4 },
  ],
  ["what an endpoint shows", RETRY_PRESETS.exponential, RETRY_PRESETS.exponential],
  ["shown gaps", { kind: "gaps", gapsMs: [5], maxAgeMs: 9 }, { kind: "gaps", gapsMs: [5], maxAgeMs: 9 }],
])("a retry policy may be %s", (_, retryPolicy, stored) => {
  expect(parseEndpointInput({ ...minimal, retryPolicy }, context).settings.retryPolicy).toEqual(stored);
});

test.each([
  ["com.Example.Order-Paid", "Did you mean com.example.order_paid?"],
  ["Order.*", "Did you mean order.*?"],
  ["order.*.x", "or *."],
  ["", "or *."],
])("a subscription to %j is rejected with a suggestion", (type, end) => {
  const [problem] = problemsOf(() => parseEndpointInput({ ...minimal, events: [type] }, context));
  expect(problem?.message.slice(-end.length)).toBe(end);
});

test("a patch changes the given settings, and null resets one to the deployment's", () => {
  const { settings } = parseEndpointInput({ ...minimal, timeoutMs: 500, retryOn: "every" }, context);
  const patched = parseEndpointPatch(
    { timeoutMs: null, description: "new", url: undefined },
    settings,
    context,
  );
  expect(patched).toEqual({ ...settings, timeoutMs: null, description: "new" });
  const blocked = { url: "http://169.254.169.254/" };
  expect(problemsOf(() => parseEndpointPatch(blocked, settings, context))).toMatchObject([
    { pointer: "/url" },
  ]);
});

function problemsOf(work: () => unknown) {
  try {
    work();
  } catch (error) {
    if (error instanceof PosthornError && error.code === "invalid_endpoint") return error.problems;
    throw error;
  }
  throw new Error("nothing was refused");
}

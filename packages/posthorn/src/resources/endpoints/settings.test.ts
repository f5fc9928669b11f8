import { generateSecret, generateSigningKey, RETRY_PRESETS } from "@posthorn/wire";
import { expect, test } from "vitest";
import { PUBLIC_ONLY } from "../../attempt/guard/guard-address.ts";
import { PosthornError } from "../../errors.ts";
import { UNSET_SETTINGS } from "../../storage/queries/endpoints/setting-columns.ts";
import { effectiveSettings } from "./effective-settings.ts";
import { parseEndpointInput, parseEndpointPatch, type SettingsContext } from "./settings.ts";

const context: SettingsContext = {
  addressPolicy: PUBLIC_ONLY,
  defaults: {
    format: "envelope",
    formatContext: { source: "/tenants/{tenant}", datarefBase: "" },
    signature: { schemes: ["t-v1", "standard-webhooks"], headerPrefix: "X-Webhook" },
    timeoutMs: 10_000,
    maxInFlight: 5,
    retryPolicy: RETRY_PRESETS.courier,
    retryOn: "transient",
  },
  typeProblem: () => null,
};
const minimal = { url: "https://example.com/hooks", events: ["*"] };

test("an unknown event type is refused if it is new, a pattern never", () => {
  const strict = { ...context, typeProblem: (type: string) => (type === "a.b" ? null : `no ${type}`) };
  const events = ["c.*", "a.b", "a.b", "a.c", "*"];
  expect(problemsOf(() => parseEndpointInput({ ...minimal, events }, strict))).toEqual([
    { pointer: "/events/3", message: "no a.c" },
  ]);
  const { settings } = parseEndpointInput({ ...minimal, events: ["a.c"] }, context);
  expect(parseEndpointPatch({ events: ["a.b", "a.c"] }, settings, strict).events).toEqual(["a.b", "a.c"]);
  expect(problemsOf(() => parseEndpointPatch({ events: ["a.c", "a.d"] }, settings, strict))).toMatchObject([
    { pointer: "/events/1" },
  ]);
});

test("url and events are enough, everything else has the deployment's settings", () => {
  expect(parseEndpointInput(minimal, context)).toEqual({
    settings: { ...UNSET_SETTINGS, ...minimal },
    secret: null,
    schemeSecrets: {},
    token: null,
  });
});

test("all problems are reported at once, each with a pointer", () => {
  const input = {
    url: "http://10.0.0.1/",
    events: ["order.paid", "Order.Paid", "order.*.x", 7],
    description: "x".repeat(501),
    isActive: "yes",
    format: "xml",
    signature: { schemes: ["nope"], headerPrefix: "X-Webhook-", scheme: [] },
    headers: { Host: "a", "X-Fine": "b" },
    timeoutMs: 99,
    maxInFlight: 101,
    retryPolicy: "soon",
    retryOn: "never",
    ordering: "lifo",
    fifoOnDead: "stop",
    secret: "hunter2",
    max_in_flight: 4,
  };
  const pointers = problemsOf(() => parseEndpointInput(input, context)).map(({ pointer }) => pointer);
  expect(pointers.toSorted()).toEqual(
    [
      "/description",
      "/events/1",
      "/events/2",
      "/events/3",
      "/fifoOnDead",
      "/format",
      "/headers/Host",
      "/isActive",
      "/maxInFlight",
      "/max_in_flight",
      "/ordering",
      "/retryOn",
      "/retryPolicy",
      "/secret",
      "/signature/headerPrefix",
      "/signature/scheme",
      "/signature/schemes",
      "/timeoutMs",
      "/url",
    ].toSorted(),
  );
});

test.each([
  ["maxEvents", 1, 1_000],
  ["maxBytes", 1_024, 4_194_304],
  ["maxDelayMs", 10, 3_600_000],
])("batch.%s is from %i to %i, and nothing beyond", (name, least, most) => {
  const settingsWith = (batch: object) => parseEndpointInput({ ...minimal, batch }, context).settings.batch;
  expect([settingsWith({ [name]: least }), settingsWith({ [name]: most })]).toEqual([
    { [name]: least },
    { [name]: most },
  ]);
  for (const beyond of [least - 1, most + 1, least + 0.5]) {
    const problems = problemsOf(() => settingsWith({ [name]: beyond }));
    expect(problems).toMatchObject([{ pointer: `/batch/${name}` }]);
  }
});

test("a handshake's rate is 1 to 600,000 requests per minute", () => {
  const asking = (rate: number) =>
    parseEndpointInput({ ...minimal, handshake: { origin: "example.com", rate } }, context).settings
      .handshake;
  expect([asking(1)?.rate, asking(600_000)?.rate]).toEqual([1, 600_000]);
  for (const beyond of [0, 600_001, 1.5])
    expect(problemsOf(() => asking(beyond))).toMatchObject([{ pointer: "/handshake/rate" }]);
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
  expect(parseEndpointInput({ ...minimal, signature, secret: one }, context).secret).toBe(one);
});

test("a missing url and missing events are reported", () => {
  expect(problemsOf(() => parseEndpointInput({}, context)).map(({ pointer }) => pointer)).toEqual([
    "/url",
    "/events",
  ]);
});

test("an input that is not an object is refused", () => {
  for (const input of [null, "x", [], 4]) {
    expect(problemsOf(() => parseEndpointInput(input, context))[0]?.pointer).toBe("");
  }
});

test("read-only fields are refused as read-only, not as unknown", () => {
  const { settings } = parseEndpointInput(minimal, context);
  const shown = { id: "ep_1", createdAt: new Date(), health: {}, description: "x" };
  const readOnly = "This is read-only. Leave it out.";
  expect(problemsOf(() => parseEndpointPatch(shown, settings, context))).toEqual([
    { pointer: "/id", message: readOnly },
    { pointer: "/createdAt", message: readOnly },
    { pointer: "/health", message: readOnly },
  ]);
});

test("an unknown setting gets a suggestion", () => {
  const [problem] = problemsOf(() => parseEndpointInput({ ...minimal, is_active: true }, context));
  expect(problem?.message).toContain("Did you mean isActive?");
});

test.each([[["order.paid"]], [["order.*"]], [["*"]], [["a.b_2.c", "x.*"]]])(
  "%j are event patterns",
  (events) => {
    expect(parseEndpointInput({ ...minimal, events }, context).settings.events).toEqual(events);
  },
);

test.each([
  [[]],
  [["order.**"]],
  [["*.paid"]],
  [[""]],
  [["order."]],
  [["order.paid "]],
  ["*"],
  [Array(101).fill("a")],
])("%j are not event patterns", (events) => {
  expect(problemsOf(() => parseEndpointInput({ ...minimal, events }, context))).toHaveLength(1);
});

const patterns = (count: number) => Array.from({ length: count }, (_, n) => `a.b${n}`);

test.each<[field: string, at: readonly unknown[], past: readonly unknown[]]>([
  ["events", [patterns(1), patterns(100)], [patterns(0), patterns(101)]],
  ["events", [[`${"a".repeat(128)}.*`]], [[`${"a".repeat(129)}.*`]]],
  ["description", ["x".repeat(500)], ["x".repeat(501)]],
  ["timeoutMs", [100, 60_000], [99, 60_001]],
  ["maxInFlight", [1, 100], [0, 101]],
  ["rateLimit", [1, 10_000], [0, 10_001]],
  ["retryPolicy", [{ gaps: Array(100).fill("1s") }], [{ gaps: Array(101).fill("1s") }]],
])("%s has limits: at them it is fine, one past them it is refused", (field, at, past) => {
  for (const value of at) parseEndpointInput({ ...minimal, [field]: value }, context);
  for (const value of past) {
    const [problem] = problemsOf(() => parseEndpointInput({ ...minimal, [field]: value }, context));
    expect(problem?.pointer.split("/")[1]).toBe(field);
  }
});

test("a filter is stored as written, and its problems are reported with pointers", () => {
  const filter = { data: { orderId: { $in: [1, "2"] } } };
  expect(parseEndpointInput({ ...minimal, filter }, context).settings.filter).toEqual(filter);
  const wrong = { data: { orderId: { $in: [] }, a: { $like: "x" } } };
  const pointers = problemsOf(() => parseEndpointInput({ ...minimal, filter: wrong }, context));
  expect(pointers.map(({ pointer }) => pointer)).toEqual([
    "/filter/data/orderId/$in",
    "/filter/data/a/$like",
  ]);
  const { settings } = parseEndpointInput({ ...minimal, filter }, context);
  expect(parseEndpointPatch({ description: "x" }, settings, context).filter).toEqual(filter);
  expect(parseEndpointPatch({ filter: null }, settings, context).filter).toBeNull();
});

test("a format written by a later version falls back to the deployment's", () => {
  const { settings } = parseEndpointInput({ ...minimal, format: "thin" }, context);
  expect(effectiveSettings(settings, context.defaults).format).toBe("thin");
  const later = { ...settings, format: "hologram" as never };
  expect(effectiveSettings(later, context.defaults).format).toBe(context.defaults.format);
});

test("a repeated event pattern is stored once", () => {
  const { settings } = parseEndpointInput({ ...minimal, events: ["a.b", "a.b"] }, context);
  expect(settings.events).toEqual(["a.b"]);
});

test.each([
  ["a preset", "short", RETRY_PRESETS.short],
  ["gaps as text", "200ms,1s", { kind: "gaps", gapsMs: [200, 1_000] }],
  [
    "gaps as a list",
    { gaps: ["200ms", "1s"], maxAge: "1d" },
    { kind: "gaps", gapsMs: [200, 1_000], maxAgeMs: 86_400_000 },
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
  [5],
  [{}],
  [{ gaps: ["1s"], exponential: {} }],
  [{ gaps: "1s" }],
  [{ gaps: ["courier"] }],
  [{ gaps: Array(101).fill("1s") }],
  [{ gaps: ["1s"], maxage: "1d" }],
  [{ exponential: { base: "2m", cap: "1m", maxAttempts: 4 } }],
  [{ exponential: { base: "1m", cap: "2m", maxAttempts: 0 } }],
  [{ kind: "gaps", gapsMs: [-1] }],
  [{ kind: "other" }],
])("%j is not a retry policy", (retryPolicy) => {
  expect(problemsOf(() => parseEndpointInput({ ...minimal, retryPolicy }, context))).toMatchObject([
    { pointer: "/retryPolicy" },
  ]);
});

test("a custom header with the endpoint's own prefix is refused", () => {
  const input = { ...minimal, signature: { headerPrefix: "X-Acme" }, headers: { "X-Acme-Id": "1" } };
  expect(problemsOf(() => parseEndpointInput(input, context))).toMatchObject([
    { pointer: "/headers/X-Acme-Id" },
  ]);
});

test.each([
  ["com.Example.Order-Paid", "Did you mean com.example.order_paid?"],
  ["Order.*", "Did you mean order.*?"],
  ["order.*.x", "or *."],
  ["", "or *."],
])("the type %j of a CloudEvent is told as it is subscribed to", (type, end) => {
  const [problem] = problemsOf(() => parseEndpointInput({ ...minimal, events: [type] }, context));
  expect(problem?.message.slice(-end.length)).toBe(end);
});

test("the value of a refused header is not repeated", () => {
  const error = errorOf(() => parseEndpointInput({ ...minimal, headers: { Cookie: "s3cret" } }, context));
  expect(JSON.stringify([error.message, error.problems])).not.toContain("s3cret");
});

test("a given secret must be of a kind that the schemes can sign with", async () => {
  const secret = generateSecret();
  const { signingKey } = await generateSigningKey();
  expect(parseEndpointInput({ ...minimal, secret }, context).secret).toBe(secret);
  expect(problemsOf(() => parseEndpointInput({ ...minimal, secret: signingKey }, context))).toMatchObject([
    { pointer: "/secret" },
  ]);
  const v1a = { ...minimal, signature: { schemes: ["standard-webhooks-v1a"] } };
  expect(parseEndpointInput({ ...v1a, secret: signingKey }, context).secret).toBe(signingKey);
});

test("a patch changes the given settings, and null resets one to the deployment's", () => {
  const { settings } = parseEndpointInput({ ...minimal, timeoutMs: 500, retryOn: "every" }, context);
  const patched = parseEndpointPatch(
    { timeoutMs: null, description: "new", url: undefined },
    settings,
    context,
  );
  expect(patched).toEqual({ ...settings, timeoutMs: null, description: "new" });
});

test("a patch cannot set a secret or remove the url", () => {
  const { settings } = parseEndpointInput(minimal, context);
  const problems = problemsOf(() =>
    parseEndpointPatch({ secret: generateSecret(), url: null }, settings, context),
  );
  expect(problems.map(({ pointer }) => pointer)).toEqual(["/secret", "/url"]);
});

function errorOf(work: () => unknown): PosthornError {
  try {
    work();
  } catch (error) {
    if (error instanceof PosthornError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

function problemsOf(work: () => unknown) {
  const error = errorOf(work);
  expect(error.code).toBe("invalid_endpoint");
  return error.problems;
}

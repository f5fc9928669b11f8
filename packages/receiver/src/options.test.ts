import { postgresStore } from "@posthorn/receiver/postgres";
import { redisStore } from "@posthorn/receiver/redis";
import { sqliteStore } from "@posthorn/receiver/sqlite";
import { createSubscriber } from "@posthorn/receiver/websub";
import { describe, expect, test } from "vitest";
import { readOptions } from "./options.ts";
import { createReceiver } from "./receiver.ts";
import { contentsOf } from "./respond.ts";
import { posthorn } from "./sources/posthorn.ts";
import { standardWebhooks } from "./sources/standard-webhooks.ts";
import { memoryStore } from "./stores/memory/memory-store.ts";

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const minimal = { sources: [posthorn({ secrets: [secret] })], store: memoryStore() };
const DAY_MS = 86_400_000;

test("the defaults are those of the reference", () => {
  const { now: _, ...settings } = readOptions(minimal);
  expect(settings).toEqual({
    mode: "lease",
    maxBodyBytes: 1_048_576,
    handlerTimeoutMs: 60_000,
    toleranceSeconds: 300,
    claimOptions: { leaseMs: 60_000, windowMs: 30 * DAY_MS, order: null },
    afterFailures: null,
    retries: { firstDelayMs: 1_000, maxDelayMs: 3_600_000 },
    inbox: { concurrency: 10, pollMs: 1_000 },
    handshake: null,
    contents: contentsOf({}),
  });
  expect(readOptions({ ...minimal, mode: "inbox" }).afterFailures).toBe(10);
  expect(
    readOptions({ ...minimal, mode: "inbox", deadLetters: { afterFailures: null } }).afterFailures,
  ).toBeNull();
});

const ofSource = (changed: object) => ({ sources: [{ ...minimal.sources[0], ...changed }] });
const receiver = (options: object) => readOptions({ ...minimal, ...options });
const subscriber = (options: object) =>
  createSubscriber({ callbackUrl: "https://example.com/websub", store: minimal.store, ...options });
const [pool, client, sqlite] = [
  { connect: async () => undefined, query: async () => {} } as never,
  { evalsha: async () => 0, eval: async () => 0 },
  { exec: () => {}, prepare: () => ({ run: () => ({ changes: 0 }), all: () => [] }) },
];

describe.each<[name: string, least: number, most: number, use: (value: number) => unknown]>([
  ["maxBodyBytes", 1, 104_857_600, (maxBodyBytes) => receiver({ maxBodyBytes })],
  ["toleranceSeconds", 1, 86_400, (toleranceSeconds) => receiver({ toleranceSeconds })],
  ["handlerTimeoutMs", 1, 86_400_000, (handlerTimeoutMs) => receiver({ handlerTimeoutMs })],
  ["leaseMs", 1_000, 3_600_000, (leaseMs) => receiver({ leaseMs })],
  ["windowDays", 1, 3_650, (windowDays) => receiver({ windowDays })],
  ["deadLetters.afterFailures", 1, 1_000, (afterFailures) => receiver({ deadLetters: { afterFailures } })],
  ["order.gapWaitMs", 0, DAY_MS, (gapWaitMs) => receiver({ order: { gapWaitMs } })],
  ["retries.firstDelayMs", 1, 3_600_000, (firstDelayMs) => receiver({ retries: { firstDelayMs } })],
  ["retries.maxDelayMs", 1_000, 30 * DAY_MS, (maxDelayMs) => receiver({ retries: { maxDelayMs } })],
  ["inbox.concurrency", 1, 1_000, (concurrency) => receiver({ inbox: { concurrency } })],
  ["inbox.pollMs", 10, 60_000, (pollMs) => receiver({ inbox: { pollMs } })],
  ["handshake.rate", 1, 1_000_000, (rate) => receiver({ handshake: { allowedOrigins: ["*"], rate } })],
  ["maxTransactions", 1, 10_000, (maxTransactions) => postgresStore(pool, { maxTransactions })],
  ["historyDays", 1, 3_650, (historyDays) => postgresStore(pool, { historyDays })],
  ["busyWaitMs", 0, 600_000, (busyWaitMs) => sqliteStore(sqlite, { busyWaitMs })],
  ["queueWaitMs", 1, 600_000, (queueWaitMs) => sqliteStore(sqlite, { queueWaitMs })],
  ["timeoutMs", 1, 600_000, (timeoutMs) => redisStore(client, { timeoutMs })],
  ["leaseSeconds", 1, 31_536_000, (leaseSeconds) => subscriber({ leaseSeconds })],
  ["requestTimeoutMs", 1, 600_000, (requestTimeoutMs) => subscriber({ requestTimeoutMs })],
  ["pollMs", 10, 3_600_000, (pollMs) => subscriber({ pollMs })],
])("%s", (name, least, most, use) => {
  test.each([least, most])("may be %i", (value) => {
    expect(() => use(value)).not.toThrow();
  });
  test.each([least - 1, most + 1, least + 0.5, Number.NaN, "5"])("may not be %s", (value) => {
    const wrong = () => use(value as number);
    expect(wrong).toThrow(RangeError);
    const written = value === "5" ? '"5"' : value;
    expect(wrong).toThrow(`${name} must be a whole number from ${least} to ${most}, not ${written}.`);
  });
});

test.each<[what: string, options: object, message: string]>([
  [
    "a misspelt option",
    { maxBodyByte: 1 },
    'createReceiver has no option "maxBodyByte". Did you mean maxBodyBytes?',
  ],
  ["one in another style", { tolerance_seconds: 1 }, "Did you mean toleranceSeconds?"],
  ["one that nothing resembles", { queueUrl: "x" }, "Expected one of: sources, store, mode"],
  ["one in deadLetters", { deadLetters: { afterfailures: 1 } }, "Did you mean afterFailures?"],
  ["one in order", { order: { gapWait: 1 } }, "Did you mean gapWaitMs?"],
  ["one in retries", { retries: { maxDelay: 1 } }, "Did you mean maxDelayMs?"],
  ["one in inbox", { inbox: { poolMs: 1 } }, "Did you mean pollMs?"],
  ["one in handshake", { handshake: { allowedOrigin: [] } }, "Did you mean allowedOrigins?"],
  ["a misspelt mode", { mode: "leese" }, 'There is no mode "leese". Did you mean lease?'],
  ["transactions where there are none", { mode: "transactional" }, "This store has no transactions"],
  ["no store", { store: undefined }, "createReceiver needs a `store`"],
  ["no sources", { sources: [] }, "createReceiver needs `sources`"],
  [
    "two sources of one name",
    { sources: [...minimal.sources, ...minimal.sources] },
    'Two sources are named "posthorn"',
  ],
  ["a source that is missing", { sources: [undefined] }, "sources[0] is not a source: use a preset"],
  ["a source without a name", ofSource({ name: "" }), "sources[0] is not a source: it needs a `name`"],
  ["a source without parse", ofSource({ parse: undefined }), '"posthorn" has no method `parse`'],
  ["a source without headers", ofSource({ parsedHeaders: undefined }), '`parsedHeaders` of "posthorn" must'],
  ["headers in upper case", ofSource({ parsedHeaders: ["X-Id"] }), "that it parses, in lower case"],
  ["a body of unknown kind", ofSource({ hasStableBody: "no" }), '"posthorn" needs `hasStableBody`'],
  ["a status in a text", ofSource({ retryLaterStatus: "503" }), 'of "posthorn" is "503", after which'],
  ["a number in a text", { windowDays: "30" }, 'from 1 to 3650, not "30"'],
  ["an option that is no object", { order: true }, "order needs an object of options."],
  [
    "a body that is no JSON",
    { responseBodies: { done: { id: 1n } } },
    "cannot be written as JSON: Do not know",
  ],
  ["a schema that checks nothing", { events: { a: {} } }, 'events["a"] is not a Standard Schema'],
  ["a schema that is missing", { events: { a: undefined } }, 'events["a"] is not a Standard Schema'],
  ["a list of types", { events: ["a"] }, "`events` must be an object: event type → schema"],
  ["no catalogue at all", { events: null }, "`events` must be an object: event type → schema"],
  ["a body for no status", { responseBodies: { ok: {} } }, 'responseBodies has no option "ok"'],
  [
    "a body that is a number",
    { responseBodies: { done: 1 } },
    "responseBodies.done must be an object, sent as",
  ],
  [
    "a body that is null",
    { responseBodies: { done: null } },
    "responseBodies.done must be an object, sent as",
  ],
  ["no origins", { handshake: { allowedOrigins: [] } }, "handshake needs `allowedOrigins`"],
])("%s is rejected with what to do", (_, options, message) => {
  expect(() => createReceiver({ ...minimal, ...options })).toThrow(message);
});

test.each([
  [408, 409, 425, 429, 500, 503, 599],
  [200, 302, 400, 404, 410, 422, 499, 600, 503.5, Number.NaN],
])("the status for later is one after which senders send again: %s and so on", (...statuses) => {
  const isAllowed = statuses.includes(503);
  for (const retryLaterStatus of statuses) {
    const sources = [{ ...posthorn({ secrets: [secret] }), retryLaterStatus }];
    const create = () => createReceiver({ ...minimal, sources });
    if (isAllowed) expect(create).not.toThrow();
    else
      expect(create).toThrow(`retryLaterStatus of "posthorn" is ${retryLaterStatus}, after which its sender`);
  }
});

test("a schema may be a function, as those of ArkType are", () => {
  const schema = Object.assign(() => {}, {
    "~standard": { version: 1, vendor: "test", validate: (value: unknown) => ({ value }) } as const,
  });
  expect(() => createReceiver({ ...minimal, events: { "order.paid": schema } })).not.toThrow();
});

test.each<
  [what: string, secrets: readonly (string | Uint8Array<ArrayBuffer> | undefined)[], message: string]
>([
  ["none", [], "posthorn() needs `secrets`: a list of at least one."],
  ["an environment variable that is not set", [undefined], "secrets[0] of posthorn() is missing."],
  ["an empty one", [secret, ""], "secrets[1] of posthorn() is missing."],
  ["one of spaces", [" \t "], "secrets[0] of posthorn() is missing."],
  ["one read from a file", [`${secret}\n`], "ends with a line break"],
  ["one with a space before it", [` ${secret}`], "has white space around it. Trim it."],
  ["an empty list of bytes", [new Uint8Array(0)], "secrets[0] of posthorn() is missing."],
  ["one that was cut off", [secret, "whsec_x"], "secrets[1] of posthorn() should be whsec_ and the base64"],
])("the secrets are checked at start: %s is rejected", (_, secrets, message) => {
  expect(() => posthorn({ secrets })).toThrow(message);
});

test("a secret that no scheme can use is rejected at start", () => {
  expect(() => standardWebhooks({ secrets: ["plain text"] })).toThrow("secrets[0] of standardWebhooks()");
  const schemes = ["standard-webhooks-v1a"];
  expect(() => posthorn({ secrets: [secret], schemes })).toThrow("None of the secrets of posthorn()");
});

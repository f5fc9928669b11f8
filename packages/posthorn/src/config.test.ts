import { expect, test } from "vitest";
import { type PosthornOptions, resolveConfig } from "./config.ts";
import type { PosthornError } from "./errors.ts";

const resolve = (options: Record<string, unknown>) =>
  resolveConfig({ database: "postgresql://127.0.0.1/x", ...options } as PosthornOptions);

test("an unknown option is rejected with a suggestion", () => {
  expect(() => resolve({ retry_policy: "quick" })).toThrow(
    'There is no option "retry_policy". Did you mean retryPolicy?',
  );
  const many = Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`name_${n}`, 1]));
  expect(() => resolve(many)).toThrow(
    expect.objectContaining({ problems: expect.objectContaining({ length: 20 }) }),
  );
});

test.each<[options: Record<string, unknown>, says: string]>([
  [{ timeoutMs: "10" }, 'timeoutMs must be a whole number from 100 to 60000; it is the string "10".'],
  [{ timeoutMs: 10 }, "timeoutMs must be a whole number from 100 to 60000; it is 10."],
  [{ allowNat64: "false" }, 'allowNat64 must be true or false; it is the string "false".'],
  [{ allowHttp: "false" }, 'allowHttp must be true or false; it is the string "false".'],
  [{ retentionDays: 0 }, "retentionDays must be a whole number from 1 to 3650; it is 0."],
  [{ retentionDays: 3_651 }, "retentionDays must be a whole number from 1 to 3650; it is 3651."],
  [{ deadRetentionDays: 0 }, "deadRetentionDays must be a whole number from 1 to 3650; it is 0."],
  [{ idempotencyDays: 0.5 }, "idempotencyDays must be a whole number from 1 to 3650; it is 0.5."],
  [{ enabled: 0 }, "enabled must be true, false, on, hold, drop; it is 0."],
  [{ operatorTenant: "a b" }, 'operatorTenant must be a tenant\'s id; it is the string "a b".'],
  [{ sendMail: {} }, "sendMail must be a function that sends { to, subject, text }; it is [object Object]."],
  [
    { sendMail: async () => {} },
    "sendMail needs publicUrl or customerPortalUrl, because every mail has a link.",
  ],
  [
    { publicUrl: "hooks" },
    'publicUrl must be a URL such as https://hooks.example.com; it is the string "hooks".',
  ],
  [
    { alertWebhookUrl: "hooks" },
    "alertWebhookUrl: This is not a URL. Write it in full: https://example.com/webhooks.",
  ],
  [
    { alertWebhookUrl: "http://example.com/" },
    "alertWebhookUrl: http:// is not allowed here. Use an https:// URL. An operator can allow http:// with " +
      'POSTHORN_ALLOW_HTTP, or the library\'s option "allowHttp".',
  ],
  [
    { apiVersion: "v".repeat(33) },
    `apiVersion must be 1 to 32 characters of A-Z a-z 0-9 _ . -, such as 2026-06-01; it is the string "${"v".repeat(33)}".`,
  ],
  [
    { apiVersion: "1/2" },
    'apiVersion must be 1 to 32 characters of A-Z a-z 0-9 _ . -, such as 2026-06-01; it is the string "1/2".',
  ],
  [{ catalogue: "closed" }, 'catalogue must be one of auto, strict, open; it is the string "closed".'],
  [{ events: { "order.paid": null } }, 'events: "order.paid" is not declared by event({ schema })'],
  [
    { events: { "order.paid": { schema: {}, redacted: [] } } },
    'events: "order.paid" has no "redacted". Did you mean redact?',
  ],
  [
    { events: { "order.paid": { schema: {}, redact: "/card" } } },
    'events: "order.paid" has a redact that cannot be used. It is a list of paths.',
  ],
  [
    { events: { "order.paid": { schema: { type: "money" } } } },
    'events: "order.paid" has a schema that cannot be used, at "/type": "type" is one of null, boolean, integer, number, string, array, object, or a list of them.',
  ],
  [
    { events: { "webhook.mine": { schema: {} } } },
    'events: "webhook.mine" is not a valid type; use lower-case words joined by dots that do not begin with webhook.',
  ],
  [
    { format: "xml" },
    'format must be one of envelope, data, thin, cloudevents, cloudevents-binary, cloudevents-thin, cloudevents-batch; it is the string "xml".',
  ],
])("%o is rejected", (options, says) => {
  expect(() => resolve(options)).toThrow(expect.objectContaining({ code: "invalid_config", message: says }));
});

test("all wrong options are reported together, by their paths", () => {
  const error = (() => {
    try {
      resolve({
        ...{
          retryPolicy: "bogus",
          timeoutMs: 1,
          endpointConcurrency: 0,
          schema: "1st",
          encryptionKeys: "k1",
        },
        ...{ publicUrl: 5, websub: { leaseSeconds: 1, maxTopicBytes: 1, signature: "md5" }, apiVersion: "/" },
      });
    } catch (thrown) {
      return thrown;
    }
  })() as PosthornError;
  expect(error.problems.map(({ pointer }) => pointer).toSorted()).toEqual([
    "/apiVersion",
    "/encryptionKeys",
    "/endpointConcurrency",
    "/publicUrl",
    "/retryPolicy",
    "/schema",
    "/timeoutMs",
    "/websub/leaseSeconds",
    "/websub/maxTopicBytes",
    "/websub/signature",
  ]);
  for (const { message } of error.problems) expect(error.message).toContain(message);
});

test.each([
  ["leaseSeconds", 300, 1_296_000],
  ["maxLeaseSeconds", 300, 31_536_000],
  ["maxSubscriptions", 1, 1_000_000],
  ["maxSubscriptionsPerHost", 1, 1_000_000],
  ["verificationsPerHost", 1, 10_000],
  ["verificationsPerMinute", 1, 100_000],
  ["maxTopicBytes", 1_024, 4_194_304],
] as const)("websub.%s accepts values from %i to %i only", (name, least, most) => {
  const hubWith = (value: number) =>
    resolve({ publicUrl: "https://hooks.example.com", websub: { [name]: value } }).websub?.[name];
  expect([hubWith(least), hubWith(most)]).toEqual([least, most]);
  for (const beyond of [least - 1, most + 1, least + 0.5])
    expect(() => hubWith(beyond)).toThrow(`websub.${name} must be a whole number from ${least} to ${most}`);
});

test("an API version has 1 to 32 characters", () => {
  expect(resolve({}).apiVersion).toBe("1");
  for (const apiVersion of ["v", "2026-06-01", "v".repeat(32)])
    expect(resolve({ apiVersion }).apiVersion).toBe(apiVersion);
});

test("dead letters stay by default, and days are accepted within their limits", () => {
  expect(resolve({}).retention).toEqual({
    retentionDays: 90,
    deadRetentionDays: null,
    idempotencyDays: 30,
    auditDays: 365,
  });
  expect(resolve({ retentionDays: 1, deadRetentionDays: 3_650, idempotencyDays: 1 }).retention).toEqual({
    retentionDays: 1,
    deadRetentionDays: 3_650,
    idempotencyDays: 1,
    auditDays: 365,
  });
});

test.each([
  ["neither is given", {}, [5, 50]],
  ["only the limit is given", { endpointConcurrency: 2 }, [2, 2]],
  ["only the burst is given", { endpointConcurrencyBurst: 20 }, [5, 20]],
  ["both are given", { endpointConcurrency: 2, endpointConcurrencyBurst: 20 }, [2, 20]],
])("the endpoints' limit and burst if %s", (_, options, expected) => {
  const { maxInFlight, maxInFlightBurst } = resolve(options).endpointDefaults;
  expect([maxInFlight, maxInFlightBurst]).toEqual(expected);
});

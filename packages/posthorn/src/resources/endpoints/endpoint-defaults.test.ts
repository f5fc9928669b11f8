import { DEPLOYMENT_OPTIONS, definitionOf, RETRY_PRESETS, SETTING_NAMES } from "@posthorn/wire";
import { expect, test } from "vitest";
import { optionNames, type PosthornOptions, resolveConfig } from "../../config.ts";
import { UNSET_SETTINGS } from "../../storage/queries/endpoints/setting-columns.ts";
import { effectiveSettings } from "./effective-settings.ts";

const defaultsWith = (options: Record<string, unknown>) =>
  resolveConfig({ database: "postgresql://127.0.0.1/x", ...options } as PosthornOptions).endpointDefaults;

test("every setting of an endpoint can be a deployment default, or says why it cannot", () => {
  for (const name of SETTING_NAMES) {
    const setting = definitionOf(name);
    const fields = setting.kind === "object" ? Object.values(setting.fields) : [];
    const isDefaultable =
      setting.deploymentOption !== undefined ||
      (fields.length > 0 && fields.every((field) => field.deploymentOption !== undefined));
    expect([name, isDefaultable]).toEqual([name, setting.onlyPerEndpoint === undefined]);
    expect(setting.onlyPerEndpoint ?? "A.").toMatch(/\.$/);
  }
});

test("every option is a default of endpoint settings, or listed here because endpoints cannot have their own", () => {
  const names: readonly string[] = DEPLOYMENT_OPTIONS.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  const others = optionNames.filter((name) => !names.includes(name));
  expect(others.toSorted()).toEqual([
    "actor",
    "alertWebhookUrl",
    "allowCidrs",
    "allowHttp",
    "allowNat64",
    "apiVersion",
    "auditDays",
    "catalogue",
    "cloudEventsSource",
    "concurrency",
    "customerPortalUrl",
    "database",
    "deadRetentionDays",
    "enabled",
    "encryptionKeys",
    "events",
    "idempotencyDays",
    "leaseMs",
    "logger",
    "maxEndpointsPerTenant",
    "metricsEndpointLabel",
    "notifyCircuits",
    "notifyDeadLetters",
    "operatorTenant",
    "publicUrl",
    "retentionDays",
    "schema",
    "sendMail",
    "sources",
    "websub",
  ]);
});

const SAMPLES: Readonly<Record<string, unknown>> = {
  format: "thin",
  envelopeFields: { tenant_id: "team_id" },
  signatureSchemes: ["sha256:sha256_v2"],
  headerPrefix: "X-Acme",
  userAgent: "Acme/1",
  headers: { "X-Source": "acme" },
  retryPolicy: { exponential: { base: "30s", cap: "1h", maxAttempts: 5 }, maxAge: "72h" },
  retryOn: "every",
  ordering: "fifo",
  fifoOnDead: "hold",
};

test.each(DEPLOYMENT_OPTIONS.map((option) => [option.name, option] as const))(
  "%s is the default of endpoints, and an endpoint's own setting takes precedence",
  (name, { setting, field, shape, default: preset }) => {
    const sample = SAMPLES[name] ?? (shape.kind === "integer" ? shape.max : undefined);
    const stored =
      name === "retryPolicy"
        ? { kind: "exponential", baseMs: 30_000, capMs: 3_600_000, maxAttempts: 5, maxAgeMs: 259_200_000 }
        : sample;
    const shown = (own: object, options: object) => {
      const settings = effectiveSettings({ ...UNSET_SETTINGS, ...own }, defaultsWith({ ...options }));
      const value = (settings as unknown as Record<string, unknown>)[setting];
      return field === null ? value : (value as Record<string, unknown>)[field];
    };
    expect(sample).not.toEqual(preset);
    expect(shown({}, {})).toEqual(preset);
    expect(shown({}, { [name]: sample })).toEqual(stored);
    const own = preset ?? 1;
    expect(shown({ [setting]: field === null ? own : { [field]: own } }, { [name]: sample })).toEqual(own);
  },
);

test("the default order does not apply to batches, which have none", () => {
  const defaults = defaultsWith({ ordering: "fifo" });
  const orderingOf = (own: object) => effectiveSettings({ ...UNSET_SETTINGS, ...own }, defaults).ordering;
  expect(orderingOf({ format: "cloudevents-batch" })).toBe("none");
  expect(orderingOf({ format: "cloudevents" })).toBe("fifo");
});

test.each<[policy: unknown, expected: unknown]>([
  ["five-attempts", RETRY_PRESETS["five-attempts"]],
  [
    { preset: "courier", maxAge: "72h" },
    { ...RETRY_PRESETS.courier, maxAgeMs: 259_200_000 },
  ],
  [
    { gaps: ["1s"], maxAttempts: 3 },
    { kind: "gaps", gapsMs: [1_000, 1_000] },
  ],
])("the retry policy of a deployment may be %j", (retryPolicy, expected) => {
  expect(defaultsWith({ retryPolicy }).retryPolicy).toEqual(expected);
});

test.each<[options: object, says: RegExp]>([
  [{ retryPolicy: { gaps: ["1"] } }, /^retryPolicy: gaps needs a time with a unit, such as 200ms/],
  [{ retryPolicy: 5 }, /^retryPolicy: Write a retry policy as a preset/],
  [{ retryPolicy: "couriers" }, /^retryPolicy: "couriers" is neither a preset nor a gap/],
  [{ retryOn: "never" }, /^retryOn must be one of transient, every; it is the string "never"/],
  [{ signatureSchemes: ["nope"] }, /^signatureSchemes: /],
  [{ signatureSchemes: "t-v1" }, /^signatureSchemes: schemes is a list of names/],
  [{ headerPrefix: "X-Webhook-" }, /^headerPrefix: Leave out the hyphen/],
  [
    { signatureSchemes: ["t-v1", "stripe"], headerPrefix: "Stripe" },
    /^signatureSchemes: The signature schemes "t-v1" and "stripe" both write Stripe-Signature/,
  ],
  [
    { signatureSchemes: ["sha256:a", "sha256:b"], headerPrefix: "X-Acme" },
    /^signatureSchemes: The signature schemes "sha256:a" and "sha256:b" both write X-Acme-Signature; choose one\.$/,
  ],
  [{ userAgent: "" }, /^userAgent: A user agent has 1 to 256 printable ASCII characters/],
  [{ headers: { Host: "a" } }, /^headers: "Host": This header is set by the sender/],
  [
    { headers: { "X-Acme-Id": "a" }, headerPrefix: "X-Acme" },
    /^headers: "X-Acme-Id": This header is set by the sender/,
  ],
  [
    { envelopeFields: { tenant_id: "id" } },
    /^envelopeFields: "tenant_id": The envelope would have "id" twice/,
  ],
  [{ ordering: "lifo" }, /^ordering must be one of none, fifo; it is the string "lifo"/],
  [
    { ordering: "fifo", format: "cloudevents-batch" },
    /^ordering: fifo is not possible with cloudevents-batch/,
  ],
  [{ fifoOnDead: "wait" }, /^fifoOnDead must be one of pass, hold/],
  [{ endpointRateLimit: 0 }, /^endpointRateLimit must be a whole number from 1 to 10000; it is 0/],
  [{ batchMaxEvents: 1_001 }, /^batchMaxEvents must be a whole number from 1 to 1000/],
])("the option %j is rejected", (options, says) => {
  const message = expect.stringMatching(says);
  expect(() => defaultsWith({ ...options })).toThrow(
    expect.objectContaining({ code: "invalid_config", message }),
  );
});

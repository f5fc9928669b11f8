import type { Endpoint } from "@posthorn/client";
import { expect, test } from "vitest";
import { changesIn, EMPTY_FORM, formOf, retryPolicyText } from "./endpoint-form.ts";

const endpoint = {
  url: "https://hooks.example/in",
  description: null,
  events: ["order.*", "invoice.paid"],
  format: "envelope",
  signature: { schemes: ["t-v1"], header_prefix: "X-Webhook" },
  headers: { "X-Team": "billing" },
  timeout_ms: 10_000,
  max_in_flight: 5,
  max_in_flight_burst: 50,
  rate_limit: null,
  retry_policy: { kind: "gaps", gaps_ms: [30_000, 300_000] },
  retry_on: "transient",
  ordering: "none",
  fifo_on_dead: "pass",
  batch: { max_events: 100, max_bytes: 524_288, max_delay_ms: 1_000 },
  circuit_breaker: { failures: 10, failure_percent: 50, failures_per_hour: 0, pause_ms: 30_000 },
  disable_after: { failures: 50, days: 5 },
  user_agent: "Posthorn/1",
  authorization: null,
  handshake: null,
} as unknown as Endpoint;

test.each([
  [
    "only changed settings are sent, in the format of the API",
    {
      description: " Billing ",
      events: "order.paid\n\ninvoice.*",
      headers: "X-Team: billing: EU\nX-Two: 2",
      timeoutMs: "2500",
      rateLimit: "10",
      retryPolicy: '{"gaps":["1m"],"max_age":"1d"}',
      circuitFailures: "3",
      disableAfterDays: "",
      schemes: ["t-v1", "standard-webhooks"],
    },
    {
      description: "Billing",
      events: ["order.paid", "invoice.*"],
      headers: { "X-Team": "billing: EU", "X-Two": "2" },
      timeout_ms: 2_500,
      rate_limit: 10,
      retry_policy: { gaps: ["1m"], max_age: "1d" },
      circuit_breaker: { failures: 3, failure_percent: 50, failures_per_hour: 0, pause_ms: 30_000 },
      disable_after: { failures: 50 },
      signature: { schemes: ["t-v1", "standard-webhooks"], header_prefix: "X-Webhook" },
    },
  ],
  [
    "batch, token and handshake are sent as a whole",
    {
      format: "cloudevents-batch",
      batchEvents: "10",
      batchDelayMs: "",
      authorization: "bearer",
      token: " abc ",
      isAskedFirst: true,
      origin: "hooks.example.com",
    },
    {
      format: "cloudevents-batch",
      batch: { max_events: 10, max_bytes: 524_288 },
      authorization: { type: "bearer", token: "abc" },
      handshake: { origin: "hooks.example.com", rate: null },
    },
  ],
  [
    "an emptied field restores the deployment default",
    { format: "", timeoutMs: "", retryPolicy: "", schemes: [], headerPrefix: "", headers: "" },
    { format: null, timeout_ms: null, retry_policy: null, signature: null, headers: null },
  ],
])("%s", (_, change, settings) => {
  const before = formOf(endpoint);
  expect(changesIn({ ...before, ...change }, before)).toEqual(settings);
});

test("token and handshake are removed by null, and an empty token is not sent", () => {
  const asked = { origin: "a.example", rate: 60, state: "granted" };
  const set = formOf({ ...endpoint, authorization: { type: "query" }, handshake: asked } as Endpoint);
  expect(set).toMatchObject({ authorization: "query", token: "", isAskedFirst: true, originRate: "60" });
  expect(changesIn({ ...set, authorization: "", isAskedFirst: false }, set)).toEqual({
    authorization: null,
    handshake: null,
  });
  expect(changesIn({ ...set, authorization: "bearer" }, set)).toEqual({ authorization: { type: "bearer" } });
});

test("the secret of a scheme is sent while the scheme is selected", () => {
  const form = { ...EMPTY_FORM, schemeSecrets: { stripe: " theirs ", github: "" } };
  expect(changesIn({ ...form, schemes: ["stripe", "github"] }, EMPTY_FORM)).toEqual({
    signature: { schemes: ["stripe", "github"] },
    scheme_secrets: { stripe: "theirs" },
  });
  expect(changesIn({ ...form, schemes: ["github"] }, EMPTY_FORM)).toEqual({
    signature: { schemes: ["github"] },
  });
});

test("a new endpoint has the filled-in settings, and the server rejects invalid numbers", () => {
  const form = { ...EMPTY_FORM, url: "https://a.example", timeoutMs: "soon" };
  expect(changesIn({ ...form, events: "order.paid" }, EMPTY_FORM)).toEqual({
    url: "https://a.example",
    events: ["order.paid"],
    timeout_ms: "soon",
  });
});

test.each([
  [{ kind: "gaps", gaps_ms: [30_000, 5_400_000, 1_500] }, "30s, 90m, 1500ms"],
  [{ kind: "gaps", gaps_ms: [] }, '{"gaps":[]}'],
  [{ kind: "gaps", gaps_ms: [60_000], max_age_ms: 86_400_000 }, '{"gaps":["1m"],"max_age":"1d"}'],
  [
    { kind: "exponential", base_ms: 1_000, cap_ms: 3_600_000, max_attempts: 10 },
    '{"exponential":{"base":"1s","cap":"1h","max_attempts":10}}',
  ],
] as const)("a retry policy is shown in a format that can be sent back: %j", (policy, text) => {
  expect(retryPolicyText(policy as Endpoint["retry_policy"])).toBe(text);
});

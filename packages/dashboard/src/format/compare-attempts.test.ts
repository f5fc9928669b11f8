import type { Attempt } from "@posthorn/client";
import { expect, test } from "vitest";
import { compareAttempts } from "./compare-attempts.ts";

const phases = { queue_ms: 1, connect_ms: 5, tls_ms: null, first_byte_ms: 9, body_ms: 0 };
const first = {
  attempt: {
    ...{ number: 1, started_at: "2026-01-01T00:00:00.000Z", duration_ms: 14, worker: 1, phases },
    ...{ status_code: 500, error: null, response_body: '{"code":1,"kept":true}', trigger: "event" },
    next_retry_at: "2026-01-01T00:00:10.014Z",
  } satisfies Attempt as Attempt,
  previous: undefined,
  request: {
    method: "POST" as const,
    url: "https://shop.example/hooks",
    headers: { "X-Webhook-Attempt": "1", "X-Webhook-Id": "evt_1" },
    body: "{}",
  },
};
const second = {
  attempt: {
    ...first.attempt,
    ...{ number: 2, trigger: "retry" as const, status_code: 422, response_body: '{"code":2,"kept":true}' },
    phases: { ...phases, queue_ms: 1, connect_ms: null },
  },
  previous: first.attempt,
  request: {
    ...first.request,
    headers: { ...first.request.headers, "X-Webhook-Attempt": "2", "X-New": "a" },
  },
};

test("two attempts are compared by outcome, phases, request and response", () => {
  expect(compareAttempts(first, second)).toEqual({
    outcome: [
      { name: "status", values: ["HTTP 500", "HTTP 422"] },
      { name: "trigger", values: ["event", "retry"] },
    ],
    phases: [
      { name: "retryMs", values: [null, 10_000] },
      { name: "connect_ms", values: [5, null] },
    ],
    requestHeaders: [
      { name: "X-Webhook-Attempt", values: ["1", "2"] },
      { name: "X-New", values: [null, "a"] },
    ],
    requestBody: [],
    responseBody: [{ name: "/code", values: ["1", "2"] }],
  });
});

test("an error is an outcome, and bodies that are not both JSON are compared as a whole", () => {
  const failed = {
    ...second,
    attempt: { ...second.attempt, status_code: null, error: "timeout", response_body: "no response" },
  };
  const { outcome, responseBody } = compareAttempts(first, failed);
  expect(outcome[0]).toEqual({ name: "status", values: ["HTTP 500", "timeout"] });
  expect(responseBody).toEqual([{ name: "", values: ['{"code":1,"kept":true}', "no response"] }]);
});

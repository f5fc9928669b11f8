import { expect, test } from "vitest";
import type { DisabledEndpoint } from "../storage/queries/notifications.ts";
import { alertText, mailText, oneLine } from "./wording.ts";

const endpoint: DisabledEndpoint = {
  endpointId: "01890000-0000-7000-8000-000000000000",
  tenant: "acme",
  tenantName: "Acme Ltd",
  url: "https://hooks.example.com/orders?token=s3cret",
  description: "Billing",
  reason: "failures",
  disabledMs: Date.UTC(2026, 10, 15, 10, 58, 13, 126),
  backlog: 12,
  lastFailure: { statusCode: null, error: "timeout" },
};

test("the mail says what happened, to which endpoint, since when, and what to do", () => {
  expect(mailText(endpoint, "https://posthorn.example.com")).toEqual({
    subject: "Webhook endpoint disabled: hooks.example.com",
    text: `A webhook endpoint was disabled. Nothing is sent to it until it is enabled. Its events are kept.

Endpoint:    https://hooks.example.com/orders
Description: Billing
Id:          ep_01890000-0000-7000-8000-000000000000
Tenant:      acme (Acme Ltd)
Since:       2026-11-15 10:58:13 UTC
Reason:      Too many attempts in a row failed
Last error:  no response in time
Backlog:     12 deliveries

What to do: make the endpoint return a 2xx status, then enable it and choose whether the backlog
is delivered or discarded:

  POST https://posthorn.example.com/api/v1/tenants/acme/endpoints/ep_01890000-0000-7000-8000-000000000000/enable
  {"backlog": "deliver"} or {"backlog": "discard"}
`,
  });
});

test("unknown facts are omitted from the mail", () => {
  const { text } = mailText({ ...endpoint, description: null, tenantName: null, lastFailure: null }, null);
  expect(text).not.toMatch(/Description|Last error|\(|posthorn\.example/);
});

test("the alert is one line without the query, with Slack markup escaped", () => {
  expect(alertText({ ...endpoint, lastFailure: { statusCode: 503, error: null }, backlog: 1 })).toBe(
    "Webhook endpoint disabled: https://hooks.example.com/orders of tenant acme " +
      "(ep_01890000-0000-7000-8000-000000000000), since 2026-11-15 10:58:13 UTC. Too many attempts in a row failed. " +
      "Last error: it returned 503 Service Unavailable. Backlog: 1 delivery.",
  );
  expect(alertText({ ...endpoint, reason: "<!channel> & more" })).toContain("&lt;!channel&gt; &amp; more");
});

test.each([
  ["failures", "Too many attempts in a row failed"],
  ["no_success", "No attempt succeeded for days"],
  ["gone", "It returned 410 Gone"],
  ["set\r\nby hand", "set by hand"],
])("the reason %j reads: %s", (reason, words) => {
  expect(mailText({ ...endpoint, reason }, null).text).toContain(`Reason:      ${words}`);
});

test("the backlog is counted up to ten thousand", () => {
  const waiting = (backlog: number) =>
    /Backlog: +(.*)/.exec(mailText({ ...endpoint, backlog }, null).text)?.[1];
  expect(waiting(10_000)).toBe("10000 deliveries");
  expect(waiting(10_001)).toBe("more than 10000 deliveries");
});

test.each(["a\r\nb", "a\nb", "a\u2028b", "a\u2029b", "a\u0085b", "a\tb", "a\u202eb", "a\u0000b", "a\ud800b"])(
  "%j becomes one line",
  (text) => {
    expect(oneLine(text)).toBe("a b");
  },
);

test("a line is cut after 200 characters, never within one", () => {
  expect(oneLine("😀".repeat(200))).toBe("😀".repeat(200));
  expect(oneLine("😀".repeat(201))).toBe(`${"😀".repeat(199)}…`);
});

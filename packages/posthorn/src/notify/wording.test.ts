import { expect, test } from "vitest";
import type { Notice } from "../storage/queries/notifications/notifications.ts";
import { alertText, mailText, oneLine } from "./wording.ts";

const endpoint: Notice = {
  kind: "disabled",
  endpointId: "01890000-0000-7000-8000-000000000000",
  tenant: "acme",
  tenantName: "Acme Ltd",
  url: "https://hooks.example.com/orders?token=s3cret",
  description: "Billing",
  count: 1,
  disabledReason: "failures",
  sinceMs: Date.UTC(2026, 10, 15, 10, 58, 13, 126),
  backlog: 12,
  lastFailure: { statusCode: null, error: "timeout" },
};

test("the mail says what happened, to which endpoint, since when, and what to do", () => {
  expect(mailText(endpoint, "https://hooks.example.com/portal/endpoints/ep_1")).toEqual({
    subject: "Webhook endpoint disabled: hooks.example.com",
    text: `A webhook endpoint was disabled. Nothing is sent to it until it is enabled. Its events are kept.

Endpoint:     https://hooks.example.com/orders
Description:  Billing
Id:           ep_01890000-0000-7000-8000-000000000000
Tenant:       acme (Acme Ltd)
Since:        2026-11-15 10:58:13 UTC
Reason:       Too many attempts in a row failed
Last error:   no response in time
Backlog:      12 deliveries

What to do: make the endpoint return a 2xx status, then enable it and choose whether the backlog
is delivered or discarded.

  https://hooks.example.com/portal/endpoints/ep_1
`,
  });
});

test("unknown facts are omitted from the mail", () => {
  const { text } = mailText({ ...endpoint, description: null, tenantName: null, lastFailure: null }, null);
  expect(text).not.toMatch(/Description|Last error|\(|https:.*portal/);
});

test("the alert is one line without the query, with Slack markup escaped", () => {
  const notice: Notice = { ...endpoint, lastFailure: { statusCode: 503, error: null }, backlog: 1 };
  expect(alertText(notice, "https://hooks.example.com/?a&b")).toBe(
    "Webhook endpoint disabled: https://hooks.example.com/orders of tenant acme " +
      "(ep_01890000-0000-7000-8000-000000000000), since 2026-11-15 10:58:13 UTC. Reason: Too many attempts in a row failed. " +
      "Last error: it returned 503 Service Unavailable. Backlog: 1 delivery. https://hooks.example.com/?a&amp;b",
  );
  expect(alertText({ ...endpoint, disabledReason: "<!channel> & more" }, null)).toContain(
    "&lt;!channel&gt; &amp; more",
  );
});

test.each([
  ["dead", 1, "Webhook delivery failed: hooks.example.com", "Dead letters: 1\n"],
  ["dead", 12, "12 webhook deliveries failed: hooks.example.com", "Dead letters: 12\n"],
  ["circuit", 1, "Webhook endpoint is failing: hooks.example.com", "Backlog:      12 deliveries\n"],
] as const)("the mail about %s (%i) has its own subject and facts", (kind, count, subject, fact) => {
  const mail = mailText({ ...endpoint, kind, count, disabledReason: null }, null);
  expect(mail).toMatchObject({ subject, text: expect.stringContaining(fact) });
  expect(mail.text).not.toContain("Reason");
});

test.each([
  ["failures", "Too many attempts in a row failed"],
  ["no_success", "No attempt succeeded for days"],
  ["gone", "It returned 410 Gone"],
  ["set\r\nby hand", "set by hand"],
])("the reason %j reads: %s", (reason, words) => {
  expect(mailText({ ...endpoint, disabledReason: reason }, null).text).toContain(`Reason:       ${words}`);
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

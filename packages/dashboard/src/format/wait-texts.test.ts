import { WAIT_REASONS } from "@posthorn/wire";
import { afterEach, expect, test } from "vitest";
import { setLanguage } from "../app/texts.ts";
import { explainWait, shortWait, waitName } from "./wait-texts.ts";

const now = Date.parse("2026-11-19T12:00:00Z");
/** A retry always has a time. */
const reasons = WAIT_REASONS.filter((reason) => reason !== "retry_delay");

afterEach(() => setLanguage("en"));

test.each(reasons)("%s without a time is explained in both languages, with what ends the wait", (reason) => {
  const english = explainWait({ reason, until: null }, now);
  setLanguage("de");
  const german = explainWait({ reason, until: null }, now);
  for (const { what, remedy } of [english, german]) {
    expect(what).toMatch(/^[A-Z].+\.$/);
    expect(remedy).toMatch(/^[A-Z].+\.$/);
  }
  expect(german.what).not.toBe(english.what);
  expect(shortWait({ reason, until: null })).not.toBe("");
});

test.each(["retry_delay", "circuit", "rate_limit"] as const)(
  "%s shows the time until it is reached, and never one in the past",
  (reason) => {
    const until = new Date(now + 90_000).toISOString();
    expect(explainWait({ reason, until }, now).what).toMatch(/1m 30s|1 min 30 s|1 m 30 s/);
    for (const after of [90_000, 91_000])
      expect(explainWait({ reason, until }, now + after)).toEqual({
        what: "The next attempt is due now.",
        remedy: "",
      });
  },
);

test("the endpoint's own limits are told apart from a pause that the receiver asked for", () => {
  expect(explainWait({ reason: "cap", until: null }, now).what).toContain("limit of attempts in flight");
  expect(explainWait({ reason: "rate_limit", until: null }, now).what).toContain("rate limit");
  expect(
    explainWait({ reason: "rate_limit", until: new Date(now + 5_000).toISOString() }, now).what,
  ).toContain("the receiver asked to pause");
});

test.each(WAIT_REASONS)("%s has a name in both languages, which no other reason has", (reason) => {
  const names = () => WAIT_REASONS.map(waitName);
  const english = waitName(reason);
  expect(english).toMatch(/^[A-Z]/);
  expect(names().filter((name) => name === english)).toHaveLength(1);
  setLanguage("de");
  expect(waitName(reason)).toMatch(/^[A-Z]/);
  expect(waitName(reason)).not.toBe(english);
  expect(names().filter((name) => name === waitName(reason))).toHaveLength(1);
});

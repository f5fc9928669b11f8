import { expect, test } from "vitest";
import { isAbout, matches } from "./matches.ts";

const endpoint = "01890000-0000-7000-8000-000000000000";
const disabled = { type: "webhook.endpoint.disabled", subject: `ep_${endpoint}` };

test.each([
  [["webhook.endpoint.disabled"], true],
  [["webhook.endpoint.*"], true],
  [["webhook.*"], true],
  [["*"], true],
  [["webhook.endpoint"], false],
  [["webhook.end.*"], false],
  [["webhook.endpoint.disabled.*"], false],
  [["order.*"], false],
])("an endpoint that subscribes to %j gets webhook.endpoint.disabled: %s", (patterns, expected) => {
  expect(matches(patterns, disabled.type)).toBe(expected);
});

test("an endpoint does not get system events about itself, and gets all other events", () => {
  expect(isAbout(disabled, endpoint)).toBe(true);
  expect(isAbout(disabled, endpoint.replace("0189", "0190"))).toBe(false);
  expect(isAbout({ ...disabled, type: "endpoint.disabled" }, endpoint)).toBe(false);
  expect(isAbout({ ...disabled, subject: null }, endpoint)).toBe(false);
});

import type { Attempt, DeliveryDetail } from "@posthorn/client";
import { expect, test } from "vitest";
import { explanations, lastErrorKey, reasonTexts, whyKeys } from "./delivery-words.ts";

function delivery(
  fields: Pick<DeliveryDetail, "state" | "dead_reason">,
  ...attempts: readonly Pick<Attempt, "status_code" | "error">[]
): DeliveryDetail {
  return { ...fields, attempts } as unknown as DeliveryDetail;
}

const refused = { status_code: 401, error: null };
const unreachable = { status_code: null, error: "connection_refused" };

test("a refusal is told by what the receiver answered, not by that it refused", () => {
  expect(whyKeys(delivery({ state: "dead", dead_reason: "rejected" }, unreachable, refused))).toEqual([
    "401",
  ]);
});

test("where every attempt failed, the last one is told too", () => {
  const dead = delivery({ state: "dead", dead_reason: "attempts_exhausted" }, refused, unreachable);
  expect(whyKeys(dead)).toEqual(["attempts_exhausted", "connection_refused"]);
});

test("an end that no attempt led to stands alone", () => {
  expect(whyKeys(delivery({ state: "dead", dead_reason: "cancelled" }, unreachable))).toEqual(["cancelled"]);
});

test("nothing is told of what was delivered or waits for its first attempt", () => {
  expect(
    whyKeys(delivery({ state: "success", dead_reason: null }, { status_code: 200, error: null })),
  ).toEqual([]);
  expect(whyKeys(delivery({ state: "pending", dead_reason: null }))).toEqual([]);
});

test("an endpoint's last error is explained as an attempt's", () => {
  expect(["HTTP 401", "HTTP 503", "tls_error"].map(lastErrorKey)).toEqual(["401", "5xx", "tls_error"]);
});

test("every short reason has its long one", () => {
  expect(Object.keys(explanations.en)).toEqual(expect.arrayContaining(Object.keys(reasonTexts.en)));
});

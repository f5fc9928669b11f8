import type { Attempt, DeliveryDetail } from "@posthorn/client";
import { expect, test } from "vitest";
import { explain, explanations, lastErrorKey, reasonTexts, whyKeys } from "./delivery-texts.ts";

function delivery(
  fields: Pick<DeliveryDetail, "state" | "dead_reason">,
  ...attempts: readonly Pick<Attempt, "status_code" | "error">[]
): DeliveryDetail {
  return { ...fields, attempts } as unknown as DeliveryDetail;
}

const refused = { status_code: 401, error: null };
const unreachable = { status_code: null, error: "connection_refused" };

test("a rejected delivery is explained by the response", () => {
  expect(whyKeys(delivery({ state: "dead", dead_reason: "rejected" }, unreachable, refused))).toEqual([
    "401",
  ]);
});

test("exhausted attempts are explained together with the last attempt", () => {
  const dead = delivery({ state: "dead", dead_reason: "attempts_exhausted" }, refused, unreachable);
  expect(whyKeys(dead)).toEqual(["attempts_exhausted", "connection_refused"]);
});

test("a cancelled delivery is explained without its attempts", () => {
  expect(whyKeys(delivery({ state: "dead", dead_reason: "cancelled" }, unreachable))).toEqual(["cancelled"]);
});

test("delivered and pending deliveries have no explanation", () => {
  expect(
    whyKeys(delivery({ state: "success", dead_reason: null }, { status_code: 200, error: null })),
  ).toEqual([]);
  expect(whyKeys(delivery({ state: "pending", dead_reason: null }))).toEqual([]);
});

test("an endpoint's last error is explained like an attempt's", () => {
  expect(["HTTP 401", "HTTP 503", "tls_error"].map(lastErrorKey)).toEqual(["401", "503", "tls_error"]);
});

test("every dead reason has an explanation", () => {
  expect(Object.keys(explanations.en)).toEqual(expect.arrayContaining(Object.keys(reasonTexts.en)));
});

test("a status code without its own explanation uses that of its class", () => {
  expect(explain("503", "en").what).toBe("The receiver returned HTTP 503");
  expect(explain("no_such_reason", "de").what).toBe("Unbekanntes Ergebnis");
});

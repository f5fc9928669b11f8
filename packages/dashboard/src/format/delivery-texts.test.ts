import type { DeliveryDetail } from "@posthorn/client";
import { afterEach, expect, test } from "vitest";
import { setLanguage } from "../app/texts.ts";
import { explain, explanations, lastErrorKey, reasonTexts, whyKeys } from "./delivery-texts.ts";

const refused = { status_code: 401, error: null };
const unreachable = { status_code: null, error: "connection_refused" };

afterEach(() => setLanguage("en"));

test.each([
  ["rejected: by the response", "dead", "rejected", [unreachable, refused], ["401"]],
  [
    "exhausted: together with the last attempt",
    "dead",
    "attempts_exhausted",
    [refused, unreachable],
    ["attempts_exhausted", "connection_refused"],
  ],
  ["cancelled: without its attempts", "dead", "cancelled", [unreachable], ["cancelled"]],
  ["delivered: not at all", "success", null, [{ status_code: 200, error: null }], []],
  ["pending: not at all", "pending", null, [], []],
] as const)("a delivery is explained; %s", (_, state, dead_reason, attempts, keys) => {
  expect(whyKeys({ state, dead_reason, attempts } as unknown as DeliveryDetail)).toEqual(keys);
});

test("an endpoint's last error is explained like an attempt's", () => {
  expect(["HTTP 401", "HTTP 503", "tls_error"].map(lastErrorKey)).toEqual(["401", "503", "tls_error"]);
});

test("every dead reason has an explanation", () => {
  expect(Object.keys(explanations)).toEqual(expect.arrayContaining(Object.keys(reasonTexts)));
});

test("a status code without its own explanation uses that of its class", () => {
  expect(explain("503").what).toBe("The receiver returned HTTP 503");
  setLanguage("de");
  expect(explain("no_such_reason").what).toBe("Unbekanntes Ergebnis");
});

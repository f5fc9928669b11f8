import { schemeNames } from "@posthorn/wire";
import { expect, test } from "vitest";
import { headersOf, isByKeyPair, kindOf, SCHEMES_BY_KIND } from "./signature-schemes.ts";

test("every scheme is offered once", () => {
  expect(Object.values(SCHEMES_BY_KIND).flat().toSorted()).toEqual([...schemeNames].toSorted());
  expect(["t-v1", "rfc9421", "stripe"].map(kindOf)).toEqual(["own", "message", "vendor"]);
});

test("a scheme is shown with its headers, the signature first", () => {
  expect(headersOf("t-v1", "X-Shop")).toEqual(["X-Shop-Signature"]);
  expect(headersOf("github", "")).toEqual(["X-Hub-Signature-256", "X-GitHub-Event", "X-GitHub-Delivery"]);
  expect(headersOf("rfc9421", "")).toEqual([
    "Signature",
    "webhook-id",
    "webhook-timestamp",
    "Signature-Input",
    "Content-Digest",
  ]);
});

test("an unknown scheme of a later version is shown by its name", () => {
  expect([headersOf("later", ""), isByKeyPair("later")]).toEqual([[], false]);
});

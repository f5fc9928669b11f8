import { SCOPES } from "@posthorn/client";
import { SCOPES as known } from "posthorn/internal";
import { expect, test } from "vitest";

test("the contract and the library know the same scopes", () => {
  expect(SCOPES).toEqual(known);
});

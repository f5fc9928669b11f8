import { ROLE_SCOPES, SCOPES } from "@posthorn/client";
import { SCOPES as known, PORTAL_SCOPES } from "posthorn/internal";
import { expect, test } from "vitest";

test("the contract and the library know the same scopes", () => {
  expect(SCOPES).toEqual(known);
});

test("the portal is open to what an admin of a tenant may", () => {
  expect(PORTAL_SCOPES).toEqual(ROLE_SCOPES.admin);
});

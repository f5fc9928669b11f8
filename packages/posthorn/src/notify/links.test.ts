import { expect, test } from "vitest";
import { dashboardLink, type Links, linkFor } from "./links.ts";

const id = "ep_01890000-0000-7000-8000-000000000000";
const place = { kind: "dead", tenant: "a@b", endpointId: id.slice(3) } as const;
const links: Links = {
  publicUrl: "https://hooks.example.com/base/",
  customerPortalUrl: null,
  operatorTenant: "operators",
};

test("customers get a link to the portal: the endpoint, or its dead letters", () => {
  expect(linkFor({ ...place, kind: "disabled" }, links)).toBe(
    `https://hooks.example.com/base/portal/endpoints/${id}`,
  );
  expect(linkFor(place, links)).toBe(`https://hooks.example.com/base/portal/logs?state=dead&endpoint=${id}`);
});

test("customers get a link to the page of the product where they open the portal, if there is one", () => {
  const customerPortalUrl = "https://app.example.com/{tenant}/webhooks?at={endpoint}";
  expect(linkFor(place, { ...links, customerPortalUrl })).toBe(
    `https://app.example.com/a%40b/webhooks?at=${id}`,
  );
});

test("operators get a link to the dashboard", () => {
  expect(linkFor({ ...place, tenant: "operators", kind: "circuit" }, links)).toBe(
    `https://hooks.example.com/base/tenants/operators/endpoints/${id}`,
  );
  // without a dashboard, the page where customers open the portal
  const customerPortalUrl = "https://app.example.com/{tenant}/webhooks";
  expect(linkFor({ ...place, tenant: "operators" }, { ...links, publicUrl: null, customerPortalUrl })).toBe(
    "https://app.example.com/operators/webhooks",
  );
  expect(dashboardLink(place, links)).toBe(
    `https://hooks.example.com/base/dead-letters?tenant=a%40b&endpoint=${id}`,
  );
});

test("without a public URL there is no link", () => {
  expect(linkFor(place, { ...links, publicUrl: null })).toBeNull();
  expect(dashboardLink(place, { ...links, publicUrl: null })).toBeNull();
});

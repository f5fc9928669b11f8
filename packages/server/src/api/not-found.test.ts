import { expect, test } from "vitest";
import { notFound } from "./not-found.ts";
import { noContent } from "./reply.ts";
import type { Route } from "./router.ts";

const routes = [
  "/healthz",
  "/readyz",
  "/api/v1/events",
  "/api/v1/events/{event}",
  "/api/v1/tenants/{tenant}/endpoints",
  "/api/v1/tenants/{tenant}/endpoints/{endpoint}/test",
].map((path): Route => ({ method: "GET", path, permission: "public", handle: () => noContent }));

test.each([
  ["/api/v1/evnts?x=1", "Did you mean /api/v1/events?"],
  ["/api/v1/events/", "Did you mean /api/v1/events?"],
  ["/api/v1/event/evt_1", "Did you mean /api/v1/events/{event}?"],
  ["/api/v1/tenant/acme/endpoint", "Did you mean /api/v1/tenants/{tenant}/endpoints?"],
  ["/helthz", "Did you mean /healthz?"],
  ["/api/v1/subscriptions", "Resources under /api/v1: events, tenants."],
  ["/favicon.ico", "The API is under /api/v1."],
  ["//", "The API is under /api/v1."],
])("%s: %s", (url, expected) => {
  expect(notFound(url, routes).message).toBe(`There is nothing at this path. ${expected}`);
});

test("a process without the API explains it in its 404", () => {
  expect(notFound("/api/v1/events", routes.slice(0, 2)).message).toMatch(
    /This process runs as a worker without the API. It serves only \/healthz and \/readyz/,
  );
});

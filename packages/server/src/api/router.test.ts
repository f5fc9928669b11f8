import { expect, test } from "vitest";
import { noContent } from "./reply.ts";
import { createRouter, type Method, type Route, type RoutePermission } from "./router.ts";

function route(method: Method, path: string, permission: RoutePermission = "public"): Route {
  return { method, path, permission, handle: () => noContent };
}

const PART_TEST = "/things/{thing}/parts/{part}/test";
const router = createRouter([
  route("GET", "/"),
  route("GET", "/things"),
  route("POST", "/things"),
  route("GET", "/things/{thing}"),
  route("DELETE", "/things/{thing}"),
  route("GET", "/things/all"),
  route("POST", PART_TEST),
  route("*", "/sink/{id}"),
  route("GET", "/sink/{id}/requests"),
  route("GET", "/api/things"),
  route("DELETE", "/api/things/{thing}"),
]);

function found(method: string, path: string): unknown {
  const match = router.match(method, path);
  return match.kind === "found" ? [match.route.method, match.route.path, match.params] : match;
}

test.each<[method: string, path: string, found: unknown[]]>([
  ["GET", "/", ["GET", "/", {}]],
  ["POST", "/things", ["POST", "/things", {}]],
  ["GET", "/things/all", ["GET", "/things/all", {}]],
  ["GET", "/things/a%2Fb%20c", ["GET", "/things/{thing}", { thing: "a/b c" }]],
  ["POST", "/things/1/parts/2/test", ["POST", PART_TEST, { thing: "1", part: "2" }]],
  ["HEAD", "/things", ["GET", "/things", {}]],
  ["HEAD", "/things/1", ["GET", "/things/{thing}", { thing: "1" }]],
  ["GET", "/api/things/", ["GET", "/api/things", {}]],
  ["DELETE", "/api/things/1/", ["DELETE", "/api/things/{thing}", { thing: "1" }]],
  ["PROPFIND", "/sink/x", ["*", "/sink/{id}", { id: "x" }]],
])("%s %s is the route %j", (method, path, expected) => {
  expect(found(method, path)).toEqual(expected);
});

test("a known path with another method returns the allowed methods", () => {
  expect(found("PUT", "/things/1")).toEqual({ kind: "wrong_method", allow: "GET, HEAD, DELETE" });
  expect(found("DELETE", "/things/all")).toEqual({ kind: "wrong_method", allow: "GET, HEAD" });
});

test.each([
  "/nothing",
  "/things/",
  "/things//parts",
  "/things/1/parts",
  "//",
  "/things/1/",
  "*",
  "/api/",
  "/api/things//",
  "/api/things/1//",
])("%s is not found", (path) => {
  expect(found("GET", path)).toEqual({ kind: "not_found" });
});

test("a parameter that is not valid UTF-8 is refused", () => {
  expect(() => router.match("GET", "/things/%ff")).toThrow(
    expect.objectContaining({ code: "malformed_url" }),
  );
});

test("a route that declares no permission prevents the start", () => {
  const careless = { ...route("GET", "/open"), permission: undefined } as unknown as Route;
  expect(() => createRouter([careless])).toThrow("The route GET /open declares no permission");
});

test("a duplicate route prevents the start", () => {
  expect(() => createRouter([route("GET", "/a/{x}"), route("GET", "/a/{x}")])).toThrow("is a duplicate");
});

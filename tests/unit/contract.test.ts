// The API is described in four places: the contract, the server's routes, the typed client and the reference. This compares
// them, each with the contract and in both directions; for OpenAPI see packages/client/src/open-api.test.ts.
import { readFileSync } from "node:fs";
import { createClient, operationsOf, pathParamsOf } from "@posthorn/client";
import { expect, test } from "vitest";
import { routesOf } from "../../packages/server/src/api/handler.ts";
import { Sink } from "../../packages/server/src/api/sink.ts";

const operations = operationsOf().map(([id, { method, path }]) => ({ id, place: `${method} ${path}` }));
const places = operations.map(({ place }) => place).toSorted();
const routes = routesOf({ hooks: {}, signIn: {} } as never, {
  sink: { sink: new Sink(), readers: "public" },
});

test("the server has a route for every operation, with its permission, and no other under /api", () => {
  expect(places.length).toBeGreaterThan(20);
  const served = routes.filter(({ path }) => path.startsWith("/api"));
  expect(served.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(places);
  for (const [, { method, path, permission }] of operationsOf()) {
    expect(served.find((route) => route.method === method && route.path === path)?.permission).toBe(
      permission,
    );
  }
});

test("the client calls every operation at its path, and has no other methods", async () => {
  const asked: string[] = [];
  const send = (async (input: string | URL | Request, init?: RequestInit) => {
    asked.push(`${init?.method} ${new URL(String(input)).pathname}`);
    return new Response("{}", { headers: { "content-type": "application/json" } });
  }) as typeof fetch;
  const client = createClient({ url: "http://127.0.0.1:1", key: "k", fetch: send });
  const methods = Object.entries(client).flatMap(([resource, calls]) =>
    Object.entries(calls).map(([name, call]) => ({ id: `${resource}.${name}`, call: call as AnyCall })),
  );
  expect(methods.map(({ id }) => id)).toEqual(operations.map(({ id }) => id));
  for (const { call } of methods) await call(everyParameter);
  expect(asked).toEqual(operations.map(({ place }) => place.replace(/\{(\w+)\}/g, "$1")));
});

type AnyCall = (input: object) => Promise<unknown>;

/** Each path parameter has its own name as its value. */
const everyParameter = Object.fromEntries(
  operations.flatMap(({ place }) => pathParamsOf(place)).map((name) => [name, name]),
);

test("the reference has exactly one row for every route", () => {
  const text = readFileSync(new URL("../../docs/reference/http-api.md", import.meta.url), "utf8");
  const [table = ""] = text.split("\n## ");
  const written = [...table.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell]) => placesIn(cell as string));
  const known = routes.flatMap(({ method, path }) => (method === "*" ? [path] : [`${method} ${path}`]));
  expect(written.toSorted()).toEqual(known.toSorted());
});

/** Methods without a path belong to the next path. */
function placesIn(cell: string): string[] {
  const found: string[] = [];
  let methods: string[] = [];
  for (const [, code = ""] of cell.matchAll(/`([^`]+)`/g)) {
    const [, method, path] = /^([A-Z]+)?(?: ?(\/\S*))?$/.exec(code) ?? [];
    if (method !== undefined) methods.push(method);
    if (path === undefined) continue;
    found.push(...(methods.length === 0 ? [path] : methods.map((one) => `${one} ${path}`)));
    methods = [];
  }
  return found;
}

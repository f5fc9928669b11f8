import { describe, expect, test } from "vitest";
import { contract } from "./contract/contract.ts";
import { SCOPES } from "./contract/operation.ts";
import { openApi, operationsOf, pathParamsOf } from "./open-api.ts";

type Json = Record<string, unknown>;

describe("the OpenAPI document", () => {
  const document = openApi({ version: "1.2.3", publicUrl: "https://hooks.example.com" });

  test("has every operation under its path, method and id", () => {
    const paths = document.paths as Record<string, Record<string, { operationId: string }>>;
    const written = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, { operationId }]) => `${method.toUpperCase()} ${path} ${operationId}`,
      ),
    );
    const known = operationsOf().map(([id, { method, path }]) => `${method} ${path} ${id}`);
    expect(known.length).toBeGreaterThan(20);
    expect(written.toSorted()).toEqual(known.toSorted());
  });

  test("refers only to components that it has, and has none that nothing refers to", () => {
    const text = JSON.stringify(document);
    const { schemas } = document.components as { schemas: Json };
    const referred = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, to]) => to as string);
    expect(new Set(referred)).toEqual(
      new Set(Object.keys(schemas).map((name) => `#/components/schemas/${name}`)),
    );
    expect(text).not.toContain("$defs");
  });

  test("tells of Posthorn's own events under webhooks, and where the server is", () => {
    expect(Object.keys(document.webhooks as Json)).toEqual(["webhook.test", "webhook.endpoint.disabled"]);
    expect(document).toMatchObject({ openapi: "3.1.0", servers: [{ url: "https://hooks.example.com" }] });
  });
});

describe("every operation", () => {
  test.each(operationsOf())("%s says who may call it and what it does", (_id, operation) => {
    const { permission, summary, path, method } = operation;
    expect(SCOPES).toEqual(expect.arrayContaining([...permission.scopes]));
    expect(summary).toMatch(/^[A-Z].*[^.]$/);
    expect(new Set(pathParamsOf(path)).size).toBe(pathParamsOf(path).length);
    if (method === "GET") expect(operation.body).toBeUndefined();
  });

  test("has a path and method of its own", () => {
    const places = operationsOf().map(([, { method, path }]) => `${method} ${path}`);
    expect(new Set(places).size).toBe(places.length);
  });

  test("that changes something for one tenant is not open to readers", () => {
    for (const [id, { method, permission }] of operationsOf(contract)) {
      if (method !== "GET") expect([id, permission.scopes]).not.toContain("deliveries:read");
    }
  });
});

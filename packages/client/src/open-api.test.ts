import { SCOPES } from "@posthorn/wire";
import { describe, expect, test } from "vitest";
import { pathParamsOf } from "./call.ts";
import { contract } from "./contract/contract.ts";
import { openApi, operationsOf } from "./open-api.ts";

type Json = Record<string, unknown>;

describe("the OpenAPI document", () => {
  const document = openApi({ version: "1.2.3", publicUrl: "https://hooks.example.com" });

  test("has every operation under its own path and method, with its id", () => {
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

  test("has exactly the components that it refers to", () => {
    const text = JSON.stringify(document);
    const { schemas } = document.components as { schemas: Json };
    const referred = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, to]) => to as string);
    expect(new Set(referred)).toEqual(
      new Set(Object.keys(schemas).map((name) => `#/components/schemas/${name}`)),
    );
    expect(text).not.toContain("$defs");
  });

  test("describes every field and parameter", () => {
    const { schemas } = document.components as { schemas: Record<string, Json> };
    const described = [...describedIn(document, "")];
    expect(described.length).toBeGreaterThan(300);
    const isBare = ({ description, $ref }: Json): boolean => {
      const text = description ?? schemas[String($ref).replace("#/components/schemas/", "")]?.description;
      return String(text ?? "").split(" ").length < 2;
    };
    expect(described.filter(([, field]) => isBare(field)).map(([place]) => place)).toEqual([]);
  });

  test("shows the alternatives of a retry policy, and the required fields of an endpoint", () => {
    const { schemas } = document.components as { schemas: Record<string, Json> };
    expect(schemas.RetryPolicyInput).not.toHaveProperty("anyOf");
    const formats = ["a preset or gaps", "a preset with limits", "gaps", "exponential", "as returned"];
    expect(schemas.RetryPolicyInput?.oneOf).toMatchObject(formats.map((title) => ({ title })));
    expect(schemas.EndpointInput?.required).toEqual(["url", "events"]);
    expect(schemas.EndpointImport).not.toHaveProperty("required");
  });

  test("lists the content types that publishing accepts in addition to JSON", () => {
    const paths = document.paths as Record<string, Record<string, { requestBody: { content: Json } }>>;
    const CloudEvent = { $ref: "#/components/schemas/CloudEvent" };
    expect(paths["/api/v1/events"]?.post?.requestBody.content).toMatchObject({
      "application/json": {},
      "application/cloudevents+json": { schema: CloudEvent },
      "application/cloudevents-batch+json": { schema: { type: "array", items: CloudEvent } },
    });
  });

  test("lists the headers of publishing and the errors of each operation", () => {
    const paths = document.paths as Record<string, Record<string, { parameters: Json[]; responses: Json }>>;
    const publish = paths["/api/v1/events"]?.post;
    const headers = publish?.parameters.filter((parameter) => parameter.in === "header");
    expect(headers?.map(({ name }) => name)).toEqual(["Idempotency-Key", "traceparent"]);
    const statuses = Object.keys(publish?.responses ?? {}).map(Number);
    expect(statuses).toEqual([202, 400, 401, 403, 413, 415, 422, 429, 500, 503]);
  });

  test("lists system events under webhooks, and the server's URL", () => {
    expect(Object.keys(document.webhooks as Json)).toEqual([
      "webhook.test",
      "webhook.endpoint.disabled",
      "webhook.endpoint.circuit_opened",
      "webhook.endpoint.recovered",
      "webhook.delivery.dead",
    ]);
    const { schemas } = document.components as { schemas: Record<string, Json> };
    expect(schemas.TestEvent?.required).toEqual(["message", "endpoint_id"]);
    expect(document).toMatchObject({ openapi: "3.1.0", servers: [{ url: "https://hooks.example.com" }] });
  });
});

/** Every property of a schema and every parameter, with where it is. */
function* describedIn(value: unknown, place: string): Generator<[place: string, described: Json]> {
  if (typeof value !== "object" || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    if (name === "examples") continue;
    const at = `${place}/${name}`;
    if (name === "properties" || name === "parameters") {
      for (const [key, field] of Object.entries(inner as Json)) yield [`${at}/${key}`, field as Json];
    }
    yield* describedIn(inner, at);
  }
}

describe("every operation", () => {
  test.each(operationsOf())("%s has a permission and a summary", (_id, operation) => {
    const { permission, summary, path, method } = operation;
    const scopes = permission === "public" ? [] : permission.scopes;
    expect(SCOPES).toEqual(expect.arrayContaining([...scopes]));
    expect(summary).toMatch(/^[A-Z].*[^.]$/);
    expect(new Set(pathParamsOf(path)).size).toBe(pathParamsOf(path).length);
    if (method === "GET") expect(operation.body).toBeUndefined();
  });

  test("that changes something is not open to readers, except for their own session", () => {
    const open = operationsOf(contract).filter(
      ([, { method, permission, isReadOnly }]) =>
        method !== "GET" &&
        isReadOnly !== true &&
        (permission === "public" || permission.scopes.includes("deliveries:read")),
    );
    expect(open.map(([id]) => id)).toEqual(["session.create", "session.end"]);
  });
});

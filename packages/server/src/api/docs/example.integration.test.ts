// A server accepts the body of every example on /docs.
import { openApi } from "@posthorn/client";
import { expect, test } from "vitest";
import { startServer } from "../../../../../tests/support/servers/start-server.ts";
import { curlFor, exampleOf } from "./example.ts";
import { docsPage, type OpenApiDocument } from "./page.ts";

const document = openApi({ version: "1.2.3" }) as unknown as OpenApiDocument;

test("no example is refused for its body or has a placeholder", async () => {
  const server = await startServer({ started: false });
  await server.call("PUT", "/api/v1/tenants/acme");
  const places = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  );
  const { schemas } = document.components;
  for (const { method, path, operation } of places) {
    const schema = operation.requestBody?.content?.["application/json"]?.schema;
    if (schema === undefined) continue;
    const ids = (operation.parameters ?? []).filter((parameter) => parameter.in === "path");
    const examples = ids.map(({ name, schema: ofId }) => [name, String(exampleOf(ofId, schemas))]);
    const line = curlFor(method, path, Object.fromEntries(examples), exampleOf(schema, schemas));
    const [, sent = "", body = ""] = /POSTHORN_URL([^"]+)".*-d '(.*)'$/s.exec(line) ?? [];
    const { status, text } = await server.call(method.toUpperCase(), sent, body);
    expect([400, 422], `${operation.operationId}: ${text}`).not.toContain(status);
  }
  expect(docsPage(document)).not.toMatch(/POSTHORN_URL[^"\n]*&#60;/);
});

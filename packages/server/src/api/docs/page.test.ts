import { readFileSync } from "node:fs";
import { openApi, operationsOf } from "@posthorn/client";
import { describe, expect, test } from "vitest";
import { curlFor, exampleOf, quoted } from "./example.ts";
import { escapeHtml } from "./html.ts";
import { MARK } from "./mark.ts";
import { DOCS_POLICY, docsPage, type OpenApiDocument } from "./page.ts";
import { fieldsOf, typeOf } from "./schema.ts";

const document = openApi({ version: "1.2.3" }) as unknown as OpenApiDocument;
const page = docsPage(document);

/** The article of an operation. */
function articleOf(id: string): string {
  const start = page.indexOf(`<article id="${id}">`);
  expect(start).toBeGreaterThan(0);
  return page.slice(start, page.indexOf("</article>", start));
}

describe("the reference page", () => {
  test.each(operationsOf())(
    "shows %s with method, path, permission, response and an example",
    (id, operation) => {
      const article = articleOf(id);
      expect(article).toContain(`<span class="method ${operation.method.toLowerCase()}">`);
      expect(article).toContain(escapeHtml(operation.path));
      const { permission } = operation;
      const scopes = permission === "public" ? [] : permission.scopes;
      for (const scope of scopes) expect(article).toContain(`<code>${scope}</code>`);
      expect(article).toContain(`Response ${operation.response.status}`);
      expect(article).toMatch(/<pre tabindex="0"><code>curl /);
      for (const name of Object.keys(operation.query?.shape ?? {}))
        expect(article).toContain(`<code>${name}</code>`);
    },
  );

  test("has every field of every schema", () => {
    for (const [name, { properties = {} }] of Object.entries(document.components.schemas)) {
      const article = articleOf(name);
      for (const field of Object.keys(properties)) expect(article).toContain(`<code>${field}</code>`);
    }
    expect(articleOf("Attempt")).toMatch(/<code>phases<\/code>.*<details>.*<code>queue_ms<\/code>/s);
  });

  test("shows replays and imports as dry runs", () => {
    for (const id of ["replays.start", "endpoints.import", "eventTypes.import"])
      expect(articleOf(id)).toContain("&#34;dry_run&#34;:true");
  });

  test("has only valid links and unique ids", () => {
    const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id as string);
    expect(new Set(ids).size).toBe(ids.length);
    const links = [...page.matchAll(/href="([^"]+)"/g)].map(([, to]) => to as string);
    expect(links.filter((to) => !to.startsWith("#"))).toEqual(["./", "openapi.json"]);
    for (const to of links.filter((link) => link.startsWith("#"))) expect(ids).toContain(to.slice(1));
  });

  test("closes every element it opens", () => {
    const open: string[] = [];
    for (const [, slash, name] of page.matchAll(/<(\/?)([a-z][a-z0-9]*)[^>]*>/g)) {
      if (["meta", "doctype"].includes(name as string)) continue;
      if (slash === "") open.push(name as string);
      else expect(name).toBe(open.pop());
    }
    expect(open).toEqual([]);
  });

  test("needs no script and no other host, and its policy allows only the server's style and typeface", () => {
    expect(page).not.toMatch(
      /<script|<img|<link|@import|url\(|https?:\/\/(?!127\.0\.0\.1|example\.com)| style=| on\w+=/i,
    );
    expect(DOCS_POLICY).toMatch(/^default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self';/);
    expect(DOCS_POLICY).not.toMatch(/unsafe|script/);
  });

  test("fills the body of the built page", () => {
    const template = "<html><head><title>$& built</title></head><body></body></html>";
    const built = docsPage(document, template);
    expect(built).toMatch(
      /^<html><head><title>\$& built<\/title><\/head><body>\n<nav .*<\/main>\n<\/body><\/html>$/s,
    );
  });

  test("has the mark of the dashboard", () => {
    const icon = readFileSync(new URL("../../../../dashboard/src/icon.svg", import.meta.url), "utf8");
    const logo = readFileSync(
      new URL("../../../../dashboard/src/components/ui/logo.tsx", import.meta.url),
      "utf8",
    );
    const shapes = (text: string) =>
      [...text.matchAll(/(?: d| cx| cy| r| rx|stroke-?width)="([^"]+)"/gi)].map(([, value]) => value).sort();
    expect(shapes(MARK.text)).toEqual(shapes(icon));
    expect(shapes(MARK.text)).toEqual(shapes(logo));
  });

  test("escapes the texts of a document", () => {
    const hostile = `"><script>alert('x')</script>&\``;
    const field = {
      type: "string",
      description: hostile,
      pattern: hostile,
      default: hostile,
      enum: [hostile],
    };
    const body = { content: { "application/json": { schema: { properties: { [hostile]: field } } } } };
    const operation = {
      operationId: hostile,
      tags: [hostile],
      summary: hostile,
      description: hostile,
      parameters: [{ name: hostile, in: "query", required: true, schema: field }],
      requestBody: body,
      responses: { 200: body },
    };
    const text = docsPage({
      info: { title: hostile, version: hostile, description: hostile },
      tags: [{ name: hostile }],
      paths: { [hostile]: { get: operation } },
      webhooks: { [hostile]: { post: operation } },
      components: { schemas: {} },
    });
    expect(text).not.toContain("<script");
    expect(text).not.toContain("alert('x')");
    expect(text).toContain("&#60;script&#62;");
  });
});

describe("a schema", () => {
  test.each([
    [{ type: "string" }, "text"],
    [{ anyOf: [{ type: "integer" }, { type: "null" }] }, "whole number or null"],
    [{ type: "array", items: { type: "boolean" } }, "list of true or false"],
    [{ enum: ["a", "b"] }, "one of a, b"],
    [{ $ref: "#/components/schemas/Box" }, '<a href="#Box">Box</a>'],
    [{ type: "object", additionalProperties: { type: "string" } }, "map of text"],
    [{ const: "x" }, "&#34;x&#34;"],
    [{}, "any JSON"],
  ])("%j is called %s", (schema, words) => {
    expect(typeOf(schema).text).toBe(words);
  });

  test("that contains itself has a short example", () => {
    const box = { $ref: "#/components/schemas/Box" };
    const example = exampleOf(box, { Box: { type: "object", properties: { inner: box } } });
    expect(JSON.stringify(example).length).toBeLessThan(200);
  });

  test("has its limits and default", () => {
    const properties = { n: { type: "integer", minimum: 1, maximum: 250, default: 50 } };
    expect(fieldsOf({ properties }).text).toContain("1 to 250, default 50");
  });
});

test("an example is quoted for a shell", () => {
  expect(quoted("it's")).toBe(`'it'\\''s'`);
  const line = curlFor("post", "/api/v1/tenants/{tenant}", { tenant: "acme" }, { name: "it's" });
  expect(line).toContain('curl -X POST "$POSTHORN_URL/api/v1/tenants/acme"');
  expect(line).toContain(`-d '{"name":"it'\\''s"}'`);
});

import { createHash } from "node:crypto";
import { openApi, operationsOf } from "@posthorn/client";
import { describe, expect, test } from "vitest";
import { curlFor, exampleOf, quoted } from "./example.ts";
import { escapeHtml, html, prose } from "./html.ts";
import { DOCS_POLICY, docsPage, type OpenApiDocument } from "./page.ts";
import { fieldsOf, typeOf } from "./schema.ts";

const document = openApi({ version: "1.2.3" }) as unknown as OpenApiDocument;
const page = docsPage(document);

/** What stands between the article of an operation and the next one. */
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
      expect(article).toContain(`Response ${operation.answer.status}`);
      expect(article).toMatch(/<pre><code>curl /);
      for (const name of Object.keys(operation.query?.shape ?? {}))
        expect(article).toContain(`<code>${name}</code>`);
    },
  );

  test("names every field of every schema that is used", () => {
    for (const [name, { properties = {} }] of Object.entries(document.components.schemas)) {
      if (name === "Problem") continue;
      for (const field of Object.keys(properties)) expect(page).toContain(`<code>${field}</code>`);
    }
    expect(articleOf("deliveries.get")).toMatch(
      /<code>attempts<\/code>.*<details>.*<code>duration_ms<\/code>/s,
    );
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

  test("needs no script and nothing from elsewhere, and its policy lets in nothing but its own style", () => {
    expect(page).not.toMatch(
      /<script|<img|<link|@import|url\(|https?:\/\/(?!127\.0\.0\.1|example\.com)| style=| on\w+=/i,
    );
    const [, style = ""] = /<style>(.*?)<\/style>/s.exec(page) ?? [];
    const hash = createHash("sha256").update(style).digest("base64");
    expect(DOCS_POLICY).toContain(`style-src 'sha256-${hash}'`);
    expect(DOCS_POLICY).toMatch(/^default-src 'none';/);
    expect(DOCS_POLICY).not.toContain("unsafe");
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
  const schemas = { Box: { type: "object", properties: { inner: { $ref: "#/components/schemas/Box" } } } };

  test.each([
    [{ type: "string" }, "text"],
    [{ anyOf: [{ type: "integer" }, { type: "null" }] }, "whole number or null"],
    [{ type: "array", items: { type: "boolean" } }, "list of true or false"],
    [{ enum: ["a", "b"] }, "one of a, b"],
    [{ $ref: "#/components/schemas/Box" }, "Box"],
    [{ type: "object", additionalProperties: { type: "string" } }, "map of text"],
    [{ const: "x" }, '"x"'],
    [{}, "any JSON"],
  ])("%j is called %s", (schema, words) => {
    expect(typeOf(schema, schemas)).toBe(words);
  });

  test("that contains itself has an end", () => {
    const box = { $ref: "#/components/schemas/Box" };
    expect(fieldsOf(box, schemas).text.match(/<details>/g)).toHaveLength(8);
    expect(JSON.stringify(exampleOf(box, schemas)).length).toBeLessThan(200);
  });

  test("shows its limits", () => {
    const properties = { n: { type: "integer", minimum: 1, maximum: 250, default: 50 } };
    expect(fieldsOf({ properties }, {}).text).toContain("1 to 250, default 50");
  });
});

test("text in a template is escaped, HTML is not, and backticks mark code", () => {
  expect(html`<b title="${`"<`}">${html`<i>`}${["a", "b"].map((text) => html`${text}`)}</b>`.text).toBe(
    '<b title="&#34;&#60;"><i>ab</b>',
  );
  expect(prose("Use `<x>` here").text).toBe("Use <code>&#60;x&#62;</code> here");
});

test("an example can be pasted into a shell as it is", () => {
  expect(quoted("it's")).toBe(`'it'\\''s'`);
  const line = curlFor("post", "/api/v1/tenants/{tenant}", { tenant: "acme" }, { name: "it's" });
  expect(line).toContain('curl -X POST "$POSTHORN_URL/api/v1/tenants/acme"');
  expect(line).toContain(`-d '{"name":"it'\\''s"}'`);
});

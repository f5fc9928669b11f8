// A public option, error, setting or route is not done until its reference page lists it, and no page lists what is gone.
import { readFileSync } from "node:fs";
import { errorRegistry } from "posthorn";
import { describe, expect, test } from "vitest";
import { optionNames } from "../../packages/posthorn/src/config.ts";
import { routesOf } from "../../packages/server/src/api/handler.ts";
import { httpErrorRegistry } from "../../packages/server/src/api/http-error.ts";
import { Sink } from "../../packages/server/src/api/sink.ts";
import { settings } from "../../packages/server/src/config/settings.ts";

const page = (name: string): string =>
  readFileSync(new URL(`../../docs/reference/${name}.md`, import.meta.url), "utf8");

/** The names in the first column of a page's tables. */
const listed = (text: string): string[] =>
  [...text.matchAll(/^\| `([^`]+)` \|/gm)].map((match) => match[1] as string);

describe("the reference", () => {
  test("lists every setting of the server with its meaning", () => {
    const text = page("settings");
    expect(listed(text).toSorted()).toEqual(
      Object.values(settings)
        .map(({ env }) => env)
        .toSorted(),
    );
    for (const { env, description } of Object.values(settings))
      expect(text).toContain(`| \`${env}\` | ${description}`);
  });

  test("lists every error with its status and meaning", () => {
    const text = page("errors");
    const errors = { ...errorRegistry, ...httpErrorRegistry };
    expect(listed(text).toSorted()).toEqual(Object.keys(errors).toSorted());
    for (const [code, { status, meaning }] of Object.entries(errors)) {
      expect(text).toContain(`| \`${code}\` | ${status} | ${meaning} |`);
    }
  });

  test("lists every option of the library", () => {
    const [, options = ""] = page("library").split("## Options");
    const [table = ""] = options.split("## What it does");
    expect(listed(table).toSorted()).toEqual([...optionNames].toSorted());
  });

  test("lists every route", () => {
    const text = page("http-api");
    const routes = routesOf({} as never, { sink: { sink: new Sink(), readers: "public" } });
    expect(routes.length).toBeGreaterThan(15);
    for (const { path } of routes) expect(text).toContain(path);
  });
});

describe("the README", () => {
  test("shows the example as it is run", () => {
    const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
    const example = readFileSync(new URL("../../examples/order-paid.ts", import.meta.url), "utf8");
    expect(readme).toContain(example.slice(example.indexOf("import")).trim());
  });
});

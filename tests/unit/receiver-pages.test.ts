// Compares the receiver's documentation with the code: snippets are files that run, tables list every name.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import * as postgres from "@posthorn/receiver/postgres";
import * as testing from "@posthorn/receiver/testing";
import { describe, expect, onTestFinished, test } from "vitest";

const root = new URL("../../", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), "utf8");
const guide = read("docs/guides/receiving.md");
const pages = [
  "docs/guides/receiving.md",
  ...readdirSync(new URL("docs/reference/", root))
    .filter((name) => name.startsWith("receiver"))
    .map((name) => `docs/reference/${name}`),
];

/** File name → the part that a page shows: everything from the first import on. */
const examples = new Map(
  readdirSync(new URL("examples/receiver/", root)).map((file) => {
    const source = read(`examples/receiver/${file}`);
    return [file, source.slice(source.indexOf("import")).trim()];
  }),
);

/** Stand-ins for an external API and for generated code. */
const standIns = ["mail.ts", "generated-prisma.ts"];

/** Not an example file, because its decorators need other compiler settings; frameworks.ts runs a similar one. */
const isNestController = (snippet: string): boolean => snippet.includes("@Controller");
const NEST_TSCONFIG = {
  extends: "../../../tsconfig.tests.json",
  include: ["*.ts"],
  references: [],
  compilerOptions: {
    composite: false,
    tsBuildInfoFile: null,
    lib: ["es2023", "dom"],
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
  },
};
const run = promisify(execFile);

const snippetsOf = (text: string): string[] =>
  [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map((match) => (match[1] as string).trim());

describe("the receiver examples", () => {
  test("contain every snippet of the pages", () => {
    expect(snippetsOf(guide).length).toBeGreaterThan(15);
    for (const page of pages) {
      for (const snippet of snippetsOf(read(page)).map(withoutFileName)) {
        if (!isNestController(snippet)) expect([...examples.values()], page).toContain(snippet);
      }
    }
  });

  test("are each shown on a page", () => {
    const shown = new Set(pages.flatMap((page) => snippetsOf(read(page))).map(withoutFileName));
    for (const [file, source] of examples) {
      if (!standIns.includes(file)) expect([...shown], file).toContain(source);
    }
  });

  test("for Next.js import no other file, which would be a route", () => {
    const sections = read("docs/reference/receiver-adapters.md").split(/^## /m);
    const snippets = sections.filter((section) => section.startsWith("Next.js")).flatMap(snippetsOf);
    expect(snippets).toHaveLength(2);
    for (const snippet of snippets) expect(snippet).not.toMatch(/from "\./);
  });

  test("exclude the NestJS controller, which compiles with Nest's decorator settings", async () => {
    const text = read("docs/reference/receiver-adapters.md");
    const [controller = "", ...others] = snippetsOf(text).filter(isNestController);
    expect(others).toEqual([]);
    const cache = fileURLToPath(new URL("node_modules/.cache/", root)); // below node_modules, so that imports resolve
    mkdirSync(cache, { recursive: true });
    const folder = mkdtempSync(`${cache}nest-`);
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(`${folder}/main.ts`, controller);
    writeFileSync(`${folder}/receiver.ts`, examples.get("receiver.ts") as string);
    writeFileSync(`${folder}/tsconfig.json`, JSON.stringify(NEST_TSCONFIG));
    const tsc = fileURLToPath(new URL("node_modules/.bin/tsc", root));
    const problems = await run(tsc, ["--project", folder]).then(
      () => null,
      (error) => error.stdout || error,
    );
    expect(problems).toBeNull();
  }, 60_000);

  test("are each run by a test", () => {
    const tests =
      read("tests/unit/receiver-examples.test.ts") + read("tests/integration/receiver-examples.test.ts");
    for (const file of examples.keys()) {
      if (file !== "receiver.ts") expect(tests).toContain(`examples/receiver/${file}`); // used by the others
    }
  });

  test("include the ten lines at the start of the READMEs", () => {
    const ten = examples.get("express-postgres.ts") as string;
    expect(read("README.md")).toContain(ten);
    expect(read("packages/receiver/README.md")).toContain(ten);
    const isCode = (line: string): boolean => line !== "" && !line.startsWith("import");
    expect(ten.split("\n").filter(isCode).length).toBeLessThanOrEqual(10);
    expect(read("examples/receive.ts").split("\n").filter(isCode).length).toBeLessThanOrEqual(12);
  });
});

describe("the receiver pages", () => {
  test("list every PostgreSQL adapter", () => {
    const text = read("docs/reference/receiver-stores.md");
    for (const name of Object.keys(postgres)) expect(text).toContain(name);
  });

  test("list every export for tests", () => {
    const text = read("docs/reference/receiver-testing.md");
    for (const name of Object.keys(testing)) expect(text).toContain(`\`${name}(`);
    const methods = membersOfInterface("Sender", "packages/receiver/src/testing/sender.ts");
    expect(methods).toContain("deliver");
    for (const method of methods) expect(text).toContain(`| \`sender.${method}(`);
  });

  test("list every dead letter method", () => {
    const text = read("docs/reference/receiver.md");
    const path = "packages/receiver/src/inbox/dead-letters.ts";
    for (const method of membersOfInterface("DeadLetters", path)) expect(text).toContain(`| \`${method}(`);
  });

  test("mention store.migrate() if a snippet does not call it", () => {
    for (const page of pages) {
      const text = read(page);
      const leavesItOut = (snippet: string) =>
        /(postgres|sqlite)Store\(/.test(snippet) && !snippet.includes("migrate()");
      const prose = text.replaceAll(/^```ts\n[\s\S]*?^```$/gm, "");
      if (snippetsOf(text).some(leavesItOut)) expect(prose, page).toContain("store.migrate()`");
    }
  });
});

/** Removes a first line with the file name, which only the page has. */
function withoutFileName(snippet: string): string {
  return snippet.replace(/^\/\/ \S+\.ts\n/, "");
}

/** The member names of an interface. */
function membersOfInterface(name: string, path: string): string[] {
  const [, body = ""] =
    new RegExp(`export interface ${name}\\b[^{]*{\\n([\\s\\S]*?)^}`, "m").exec(read(path)) ?? [];
  return [...body.matchAll(/^ {2}(?:readonly )?(\w+)[?(:]/gm)].map((match) => match[1] as string);
}

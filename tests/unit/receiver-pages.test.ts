// What is written about the receiver is what it is: snippets are files that run, tables have a row for each name in the code.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import * as postgres from "@posthorn/receiver/postgres";
import * as testing from "@posthorn/receiver/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { optionNames } from "../../packages/receiver/src/options.ts";
import { OUTCOME_STATUS } from "../../packages/receiver/src/respond.ts";

const root = new URL("../../", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), "utf8");
const guide = read("docs/guides/receiving.md");
const pages = [
  "docs/guides/receiving.md",
  ...readdirSync(new URL("docs/reference/", root))
    .filter((name) => name.startsWith("receiver"))
    .map((name) => `docs/reference/${name}`),
];

/** File → what a page shows of it: everything from the first import on. */
const examples = new Map(
  readdirSync(new URL("examples/receiver/", root)).map((file) => {
    const source = read(`examples/receiver/${file}`);
    return [file, source.slice(source.indexOf("import")).trim()];
  }),
);

/** For somebody else's API, and for what a generator makes of your schema. */
const standIns = ["mail.ts", "generated-prisma.ts"];

/** No example, since its decorators need other settings than the rest; frameworks.ts runs one like it. */
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

/** The names in the first column of a page's tables. */
const listed = (text: string): string[] =>
  [...text.matchAll(/^\| `([^`]+)` \|/gm)].map((match) => match[1] as string);

/** The texts that a union type allows. */
const membersOf = (type: string, path: string): string[] => {
  const [, union = ""] = new RegExp(`${type}([^;]+);`).exec(read(path)) ?? [];
  return [...union.matchAll(/"(\w+)"/g)].map((match) => match[1] as string);
};

describe("the examples", () => {
  test("are all that pages show, as they are run", () => {
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

  test("for Next.js are whole: a file beside them would be a route, and Next.js refuses `.ts` in an import", () => {
    const sections = read("docs/reference/receiver-adapters.md").split(/^## /m);
    const snippets = sections.filter((section) => section.startsWith("Next.js")).flatMap(snippetsOf);
    expect(snippets).toHaveLength(2);
    for (const snippet of snippets) expect(snippet).not.toMatch(/from "\./);
  });

  test("leave out a NestJS controller, which compiles with the decorators of Nest's own projects", async () => {
    const text = read("docs/reference/receiver-adapters.md");
    const [controller = "", ...others] = snippetsOf(text).filter(isNestController);
    expect(others).toEqual([]);
    const cache = fileURLToPath(new URL("node_modules/.cache/", root)); // below node_modules, where its imports are found
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
      if (file !== "receiver.ts") expect(tests).toContain(`examples/receiver/${file}`); // the others serve it
    }
  });

  test("begin the READMEs, in ten lines", () => {
    const ten = examples.get("express-postgres.ts") as string;
    expect(read("README.md")).toContain(ten);
    expect(read("packages/receiver/README.md")).toContain(ten);
    const isCode = (line: string): boolean => line !== "" && !line.startsWith("import");
    expect(ten.split("\n").filter(isCode).length).toBeLessThanOrEqual(10);
    expect(read("examples/receive.ts").split("\n").filter(isCode).length).toBeLessThanOrEqual(12);
  });
});

describe("the pages", () => {
  test("explain every reason for which a request is refused", () => {
    const reasons = [
      ...membersOf("export type VerifyFailure =", "packages/wire/src/signature/verify.ts"),
      ...membersOf("readonly reason:", "packages/receiver/src/hooks/hooks.ts"),
    ];
    expect(reasons.length).toBeGreaterThan(10);
    const [, table = ""] = guide.split("## When something is refused");
    expect(listed(table).toSorted()).toEqual(reasons.toSorted());
  });

  test("say every status that a sender can hear", () => {
    const [, answers = ""] = guide.split("## What the sender hears");
    for (const status of new Set(Object.values(OUTCOME_STATUS))) {
      if (status !== 410) expect(answers).toMatch(new RegExp(`^\\| .*\\| ${status}\\b`, "m")); // only who throws EndpointGone
    }
  });

  test("name every hook", () => {
    const text = pages.map(read).join("\n");
    const hooks = optionNames.filter((name) => /^on[A-Z]/.test(name));
    expect(hooks.length).toBe(membersOfInterface("Hooks", "packages/receiver/src/hooks/hooks.ts").length);
    for (const hook of hooks) expect(text).toContain(`\`${hook}\``);
  });

  test("name every entry point of the package", () => {
    const { exports } = JSON.parse(read("packages/receiver/package.json"));
    const points = Object.keys(exports)
      .filter((point) => point !== "./package.json")
      .map((point) => `@posthorn/receiver${point.slice(1)}`);
    expect(listed(read("packages/receiver/README.md")).toSorted()).toEqual(points.toSorted());
  });

  test("list what PostgreSQL can be reached by", () => {
    const text = read("docs/reference/receiver-postgres.md");
    for (const name of Object.keys(postgres)) expect(text).toContain(name);
  });

  test("list what tests can use", () => {
    const text = read("docs/reference/receiver-testing.md");
    for (const name of Object.keys(testing)) expect(text).toContain(`\`${name}(`);
    const methods = membersOfInterface("Sender", "packages/receiver/src/testing/sender.ts");
    expect(methods).toContain("deliver");
    for (const method of methods) expect(text).toContain(`| \`sender.${method}(`);
  });

  test("list what can be done with dead letters, and what replaying says", () => {
    const text = read("docs/reference/receiver-dead-letters.md");
    const path = "packages/receiver/src/inbox/dead-letters.ts";
    for (const method of membersOfInterface("DeadLetters", path)) expect(text).toContain(`| \`${method}(`);
    const results = membersOf("export type ReplayResult =", path);
    expect(results.length).toBeGreaterThan(2);
    expect(listed(text)).toEqual(expect.arrayContaining(results));
  });

  test("say who makes the tables, where a snippet does not", () => {
    for (const page of pages) {
      const text = read(page);
      const leavesItOut = (snippet: string) =>
        /(postgres|sqlite)Store\(/.test(snippet) && !snippet.includes("migrate()");
      const prose = text.replaceAll(/^```ts\n[\s\S]*?^```$/gm, "");
      if (snippetsOf(text).some(leavesItOut)) expect(prose, page).toContain("store.migrate()`");
    }
  });
});

/** A first line that says where the file belongs is the page's own. */
function withoutFileName(snippet: string): string {
  return snippet.replace(/^\/\/ \S+\.ts\n/, "");
}

/** The names of what stands at the first level of an interface. */
function membersOfInterface(name: string, path: string): string[] {
  const [, body = ""] =
    new RegExp(`export interface ${name}\\b[^{]*{\\n([\\s\\S]*?)^}`, "m").exec(read(path)) ?? [];
  return [...body.matchAll(/^ {2}(?:readonly )?(\w+)[?(:]/gm)].map((match) => match[1] as string);
}

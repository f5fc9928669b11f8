// Arrows point one way: between packages, and between the stages of the pipeline. SQL lives under storage/, network
// calls behind the guarded dispatcher. This reads every source file and names what points backwards.
import { readdirSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join, normalize } from "node:path/posix";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { readStrings } from "../support/read-strings.ts";

/** Package → the packages of ours it may import. */
const packages: Record<string, string[]> = {
  wire: [],
  receiver: ["wire"],
  posthorn: ["wire"],
  client: ["wire"],
  "embedded-postgres": [],
  server: ["wire", "posthorn", "client", "embedded-postgres"],
  dashboard: ["client", "wire"],
};

const packageNames: Record<string, string> = {
  "@posthorn/wire": "wire",
  "@posthorn/receiver": "receiver",
  posthorn: "posthorn",
  "@posthorn/client": "client",
  "@posthorn/embedded-postgres": "embedded-postgres",
  "@posthorn/server": "server",
  "@posthorn/dashboard": "dashboard",
};

/** What every folder of packages/posthorn/src may import, besides itself. */
const shared = ["model", "errors", "config", "did-you-mean", "option-checks", "service", "observe"];

/** Folder of packages/posthorn/src → the folders it may import, besides the shared ones. Files beside them tie stages. */
const stages: Record<string, string[]> = {
  observe: [],
  service: [],
  storage: [],
  formats: [],
  event: ["storage", "fan-out"],
  "json-schema": ["event"],
  catalogue: ["storage", "event", "fan-out", "json-schema"],
  "fan-out": ["storage", "formats"],
  batching: ["storage", "fan-out", "formats"],
  attempt: [],
  settle: ["storage"],
  destinations: ["storage"],
  "destinations/http": ["destinations", "catalogue"],
  "destinations/webhook": ["destinations", "destinations/http", "formats"],
  "destinations/handshake": ["destinations", "destinations/webhook", "storage", "settle"],
  "destinations/websub": [
    "destinations",
    "destinations/http",
    "formats",
    "storage",
    "event",
    "attempt",
    "resources",
  ],
  delivery: ["storage", "fan-out", "formats", "settle", "resources"],
  maintenance: ["storage"],
  notify: ["storage", "settle"],
  resources: [
    "storage",
    "event",
    "catalogue",
    "json-schema",
    "fan-out",
    "formats",
    "batching",
    "attempt",
    "settle",
    "destinations",
    "destinations/webhook",
    "destinations/handshake",
  ],
  replay: ["storage", "fan-out", "formats", "resources"],
  testing: [
    "posthorn",
    "storage",
    "event",
    "fan-out",
    "attempt",
    "settle",
    "delivery",
    "maintenance",
    "notify",
    "resources",
    "replay",
    "destinations",
    "destinations/websub",
  ],
};

const storageFolders = ["packages/posthorn/src/storage/", "packages/receiver/src/stores/"];

const sql =
  /^\s*select\b|\bselect\b.*\bfrom\b|\b(insert\s+into|delete\s+from|update\s+\S+\s+set|SELECT|INSERT|DELETE\s+FROM|UPDATE)\b/s;

interface SourceFile {
  /** From the repository's root: packages/<package>/src/… */
  path: string;
  source: string;
}

test("no import points backwards, no SQL outside storage, no network outside attempt", () => {
  const files = readSources();
  expect(files.length).toBeGreaterThan(20);
  expect(files.flatMap(violations)).toEqual([]);
});

test("the table of stages has no cycle", () => {
  const reachable = (stage: string, seen = new Set<string>()): Set<string> => {
    for (const next of stages[stage] ?? []) if (!seen.has(next)) reachable(next, seen.add(next));
    return seen;
  };
  expect(Object.keys(stages).filter((stage) => reachable(stage).has(stage))).toEqual([]);
});

test.each<[what: string, path: string, source: string]>([
  [
    "an import of a package that builds on this one",
    "packages/wire/src/ids.ts",
    'import { x } from "posthorn";',
  ],
  ["one by a subpath", "packages/wire/src/ids.ts", 'export * from "posthorn/testing";'],
  ["one made lazily", "packages/posthorn/src/posthorn.ts", 'const s = await import("@posthorn/server");'],
  ["one for types only", "packages/posthorn/src/model.ts", 'import type { X } from "@posthorn/server";'],
  [
    "one by a path that leaves the package",
    "packages/server/src/x.ts",
    'import "../../posthorn/src/model.ts";',
  ],
  [
    "a stage that imports a later one",
    "packages/posthorn/src/storage/a.ts",
    'import { b } from "../event/b.ts";',
  ],
  [
    "one that does from a deeper folder",
    "packages/posthorn/src/storage/q/r/a.ts",
    'import "../../../settle/b.ts";',
  ],
  ["storage imported by attempt", "packages/posthorn/src/attempt/a.ts", 'import "../storage/database.ts";'],
  [
    "a stage that imports what ties the stages",
    "packages/posthorn/src/settle/a.ts",
    'import "../pipeline.ts";',
  ],
  ["a folder without a row in the table", "packages/posthorn/src/helpers/a.ts", 'import "../model.ts";'],
  ["a Node module in wire", "packages/wire/src/a.ts", 'import { createHmac } from "node:crypto";'],
  ["a Node module under its bare name", "packages/wire/src/a.ts", 'import fs from "fs";'],
  ["undici outside attempt", "packages/posthorn/src/delivery/a.ts", 'import { Agent } from "undici";'],
  ["undici in the server", "packages/server/src/a.ts", 'import { fetch } from "undici";'],
  ["pg outside storage", "packages/posthorn/src/event/a.ts", 'import pg from "pg";'],
  [
    "SQL outside storage",
    "packages/posthorn/src/event/a.ts",
    "query(`\n  select id\n  from posthorn.events`)",
  ],
  ["SQL in the server", "packages/server/src/api/a.ts", 'query("update posthorn.events set x = 1");'],
  ["SQL in capitals", "packages/server/src/a.ts", 'query("SELECT 1");'],
  [
    "SQL in the expression of a template",
    "packages/server/src/a.ts",
    `\`\${run("delete from posthorn.events")}\``,
  ],
  [
    "an import between globs that look like a comment",
    "packages/wire/src/a.ts",
    'const g = "/**"; import "node:fs"; const h = "**/";',
  ],
  [
    "an import after a regular expression with quotes",
    "packages/wire/src/a.ts",
    'const quote = /["\'`]/; import "node:fs";',
  ],
])("the scan sees %s", (_what, path, source) => {
  expect(violations({ path, source })).toHaveLength(1);
});

test.each<[what: string, path: string, source: string]>([
  ["an import in a comment", "packages/wire/src/a.ts", '/** import "node:fs" */\n// import "node:fs"'],
  ["a call named from", "packages/wire/src/a.ts", 'const bytes = Uint8Array.from("node:fs");'],
  [
    "prose that asks to update something",
    "packages/server/src/a.ts",
    'fail("Select another, or update Node.");',
  ],
  ["SQL under storage", "packages/posthorn/src/storage/queries/a.ts", "sql`select id from posthorn.events`"],
  [
    "a later stage importing an earlier one",
    "packages/posthorn/src/settle/a.ts",
    'import "../storage/a.ts";',
  ],
  [
    "a file beside the stages",
    "packages/posthorn/src/pipeline.ts",
    'import "./settle/a.ts"; import "./attempt/b.ts";',
  ],
])("the scan does not mind %s", (_what, path, source) => {
  expect(violations({ path, source })).toEqual([]);
});

function violations(file: SourceFile): string[] {
  return readStrings(file.source).flatMap(({ text, before }) => {
    const isImport = /(^|[^.\w])(from|import)$|(^|[^.\w])(import|require)\($/.test(before);
    const problem = isImport ? importProblem(file.path, text) : sqlProblem(file.path, text);
    return problem ? [`${file.path}: ${problem}`] : [];
  });
}

function importProblem(path: string, specifier: string): string | null {
  const [, name = "", , inside = ""] = /^packages\/([^/]+)\/(src)\/(.*)$/.exec(path) ?? [];
  if (specifier.startsWith(".")) return relativeProblem(name, inside, specifier);

  const target = packageNames[specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/")];
  if (target && !packages[name]?.includes(target)) return `${name} may not import ${specifier}`;
  if (["wire", "receiver", "client", "dashboard"].includes(name) && isBuiltin(specifier))
    return `${name} runs outside Node too, so not ${specifier}`;
  if (specifier === "undici" && !path.startsWith("packages/posthorn/src/attempt/")) {
    return "only attempt/ may import undici: every call goes through the guarded dispatcher";
  }
  if (specifier === "pg" && name === "posthorn" && inside.includes("/") && !inside.startsWith("storage/")) {
    return "of the stages only storage/ may import pg";
  }
  return null;
}

function relativeProblem(name: string, inside: string, specifier: string): string | null {
  const target = normalize(join(dirname(inside), specifier));
  if (target.startsWith("..")) return `${specifier} leaves the package`;
  const [from, to] = [stageOf(inside), stageOf(target)];
  if (name !== "posthorn" || from === to || !inside.includes("/")) return null;
  const allowed = stages[from];
  if (!allowed)
    return `${from}/ has no row in the table of ${fileURLToPath(import.meta.url)
      .split("/")
      .pop()}`;
  return [...shared, ...allowed].includes(to) ? null : `${from}/ may not import ${to}`;
}

/** The folder below src, for kinds of destinations two folders; or the name of a file that lies there itself. */
function stageOf(inside: string): string {
  const [folder = "", kind = ""] = inside.split("/");
  if (folder === "destinations" && kind !== "" && !kind.endsWith(".ts")) return `${folder}/${kind}`;
  return folder.replace(/\.ts$/, "");
}

function sqlProblem(path: string, text: string): string | null {
  if (storageFolders.some((folder) => path.startsWith(folder)) || !sql.test(text)) return null;
  return `SQL outside storage/: ${text.trim().slice(0, 40)}`;
}

function readSources(): SourceFile[] {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  return Object.keys(packages)
    .map((name) => `packages/${name}/src`)
    .flatMap((src) => readdirSync(join(root, src), { recursive: true }).map((path) => `${src}/${path}`))
    .filter((path) => /(?<!\.test)\.ts$/.test(path) && !/\/(generated|snippets)\//.test(path))
    .map((path) => ({ path, source: readFileSync(join(root, path), "utf8") }));
}

// Checks that imports between packages and between the stages of the pipeline point one way, and that SQL is only
// in storage/. outbound.test.ts checks network access.
import { isBuiltin } from "node:module";
import { dirname, join, normalize } from "node:path/posix";
import { expect, test } from "vitest";
import { readCode, readSources, type SourceFile } from "./read-code.ts";

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

/** What every folder of packages/posthorn/src may import, besides itself. */
const shared = ["model", "errors", "config", "did-you-mean", "option-checks", "service", "observe"];

/** Folder of packages/posthorn/src → the folders it may import, besides the shared ones. Files beside them tie stages. */
const stages: Record<string, string[]> = {
  observe: [],
  service: [],
  storage: [],
  formats: [],
  event: ["fan-out"],
  "json-schema": ["event"],
  catalogue: ["storage", "event", "fan-out", "json-schema"],
  publish: ["storage", "event", "json-schema", "catalogue", "fan-out"],
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
    "destinations/webhook",
    "formats",
    "storage",
    "event",
    "publish",
    "fan-out",
    "attempt",
    "resources",
  ],
  delivery: ["storage", "fan-out", "formats", "settle", "resources", "destinations"],
  maintenance: ["storage"],
  notify: ["storage", "settle"],
  sources: ["storage", "event", "publish", "maintenance"],
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
    "destinations/http",
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

test("imports follow the table, and SQL is only in storage", () => {
  const files = readSources();
  expect(files.length).toBeGreaterThan(20);
  expect(files.flatMap(violations)).toEqual([]);
});

test("every SQL statement is prepared under its own name", () => {
  const code = readSources()
    .filter(({ path }) => path.startsWith("packages/posthorn/src/storage/"))
    .map(({ source }) => source.replace(/^\s*(\/\/|\/?\*).*$/gm, ""))
    .join("\n");
  const tag =
    /\b(?:statement|rows|firstRow|onlyRow|value|column|mapOf|hasRow|changes|run)(?:<[^(]*>)?\(\s*(?:\{ name: )?"([^"]+)"/g;
  const names = [...code.matchAll(tag)].map(([, name]) => name);
  expect(names.length).toBeGreaterThan(150);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

test("the table of stages has no cycle", () => {
  const reachable = (stage: string, seen = new Set<string>()): Set<string> => {
    for (const next of stages[stage] ?? []) if (!seen.has(next)) reachable(next, seen.add(next));
    return seen;
  };
  expect(Object.keys(stages).filter((stage) => reachable(stage).has(stage))).toEqual([]);
});

const event = "packages/posthorn/src/event/a.ts";

test.each<[violations: 0 | 1, what: string, path: string, source: string]>([
  [1, "a package above this one", "packages/wire/src/ids.ts", 'export * from "posthorn/testing";'],
  [1, "a lazy import", "packages/posthorn/src/posthorn.ts", 'const s = await import("@posthorn/server");'],
  [1, "a type", "packages/posthorn/src/model.ts", 'import type { X } from "@posthorn/server";'],
  [1, "a path out of the package", "packages/server/src/x.ts", 'import "../../posthorn/src/model.ts";'],
  [1, "a later stage", "packages/posthorn/src/storage/q/r/a.ts", 'import "../../../settle/b.ts";'],
  [1, "a file above the stages", "packages/posthorn/src/settle/a.ts", 'import "../engine.ts";'],
  [1, "an unlisted folder", "packages/posthorn/src/helpers/a.ts", 'import "../model.ts";'],
  [1, "a Node module in wire", "packages/wire/src/a.ts", 'import fs from "fs";'],
  [1, "pg outside storage", event, 'import pg from "pg";'],
  [1, "SQL outside storage", event, "query(`\n  select id\n  from posthorn.events`)"],
  [1, "SQL within a template", "packages/server/src/a.ts", `\`\${run("delete from posthorn.events")}\``],
  [1, "an import after a pattern", "packages/wire/src/a.ts", 'const quote = /["\'`]/; import "node:fs";'],
  [0, "an import in a comment", "packages/wire/src/a.ts", '/** import "node:fs" */\n// import "node:fs"'],
  [0, "prose", "packages/server/src/a.ts", 'fail("Select another, or update Node.");'],
  [0, "SQL in storage", "packages/posthorn/src/storage/queries/a.ts", "sql`select id from posthorn.events`"],
  [0, "an earlier stage", "packages/posthorn/src/settle/a.ts", 'import "../storage/a.ts";'],
])("%i violation: %s", (count, _what, path, source) => {
  expect(violations({ path, source })).toHaveLength(count);
});

function violations(file: SourceFile): string[] {
  const { imports, strings } = readCode(file);
  const problems = [
    ...imports.map(({ module }) => importProblem(file.path, module)),
    ...strings.map((text) => sqlProblem(file.path, text)),
  ];
  return problems.filter((problem) => problem !== null).map((problem) => `${file.path}: ${problem}`);
}

function importProblem(path: string, specifier: string): string | null {
  const [, name = "", , inside = ""] = /^packages\/([^/]+)\/(src)\/(.*)$/.exec(path) ?? [];
  if (specifier.startsWith(".")) return relativeProblem(name, inside, specifier);

  const [, target] = /^(?:@posthorn\/)?([^/]+)/.exec(specifier) ?? [];
  if (target !== undefined && target in packages && !packages[name]?.includes(target))
    return `${name} may not import ${specifier}`;
  if (["wire", "receiver", "client", "dashboard"].includes(name) && isBuiltin(specifier))
    return `${name} runs outside Node too, so not ${specifier}`;
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
  if (!allowed) return `${from}/ has no row in the table of imports.test.ts`;
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

// The packages as npm would publish them, unpacked into a separate project: they run from dist there, and from src only here.
import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const packages = {
  "@posthorn/wire": "wire",
  "@posthorn/receiver": "receiver",
  posthorn: "posthorn",
  "@posthorn/client": "client",
  "@posthorn/embedded-postgres": "embedded-postgres",
  "@posthorn/server": "server",
};
const names = Object.keys(packages);
/** The examples whose handlers use types of a library, and these libraries. */
const examples = ["drizzle", "express-postgres", "knex", "kysely", "prisma", "redis", "typed-by-schema"];
const receiverLibraries = ["drizzle-orm", "express", "ioredis", "knex", "kysely", "pg", "zod"];
const typesBeside = ["@types/express", "@types/pg"];

describe("packed and installed elsewhere", () => {
  let project: string;

  beforeAll(() => {
    project = mkdtempSync(join(tmpdir(), "posthorn-packed-"));
    for (const [name, folder] of Object.entries(packages)) install(name, pack(folder, project), project);
    linkDependencies(project);
  });
  afterAll(() => rmSync(project, { recursive: true, force: true }));

  test.each(entryPoints())("%s loads, from its dist", (specifier) => {
    const { resolved, exports } = load(specifier, project);
    expect(resolved).toMatch(/^.*\/node_modules\/(@posthorn\/)?[\w-]+\/dist\/[\w/-]+\.js$/);
    expect(resolved.startsWith(pathToFileURL(project).href)).toBe(true);
    expect(exports.length).toBeGreaterThan(0);
  });

  test("the posthorn command runs", () => {
    const bin = join(project, "node_modules/@posthorn/server/bin/posthorn.js");
    expect(execFileSync(process.execPath, [bin, "--help"], { cwd: project, encoding: "utf8" })).toContain(
      "posthorn",
    );
  });

  test("@posthorn/server contains the pages of the dashboard if they were built", () => {
    const built = join(root, "packages/server/static");
    const packed = join(project, "node_modules/@posthorn/server/static");
    const filesIn = (folder: string) =>
      existsSync(folder) ? readdirSync(folder, { recursive: true }).map(String).toSorted() : [];
    expect(filesIn(packed)).toEqual(filesIn(built));
  });

  test.each(names)("%s contains its sources for debuggers, and no tests", (name) => {
    const files = readdirSync(join(project, "node_modules", name), { recursive: true }).map(String);
    expect(files).toContain("src/index.ts");
    expect(files.filter((file) => /\.test\.|tsbuildinfo/.test(file))).toEqual([]);
  });
});

describe("a program that receives, with @posthorn/wire and @posthorn/receiver alone", () => {
  let project: string;

  beforeAll(() => {
    project = mkdtempSync(join(tmpdir(), "posthorn-receiver-"));
    for (const name of ["@posthorn/wire", "@posthorn/receiver"] as const) {
      install(name, pack(packages[name], project), project);
    }
    for (const library of ["@types/node", ...typesBeside, ...receiverLibraries]) link(library, project);
    cpSync(join(root, "tests/e2e/receiver-user"), project, { recursive: true });
    cpSync(join(root, "examples/receiver"), join(project, "examples"), { recursive: true });
    writeFileSync(join(project, "package.json"), JSON.stringify({ type: "module" }));
  });
  afterAll(() => rmSync(project, { recursive: true, force: true }));

  test.each([
    { module: "nodenext", moduleResolution: "nodenext" },
    { module: "esnext", moduleResolution: "bundler" },
  ])("type-checks strictly with $moduleResolution, and runs", (resolution) => {
    // our declarations are checked too; those of some libraries would not pass
    compile(["entry-points.ts"], resolution);
    compile(["edge.ts"], { ...resolution, lib: ["es2023", "dom"], types: [] });
    compile(
      examples.map((name) => `examples/${name}.ts`),
      { ...resolution, skipLibCheck: true, noEmit: true, allowImportingTsExtensions: true },
    );
    const printed = execFileSync(process.execPath, ["entry-points.js"], { cwd: project, encoding: "utf8" });
    const { statuses, totals, handlers, stores } = JSON.parse(printed.split("\n").at(-2) as string);
    expect(statuses).toEqual([200, 200, 200]);
    expect(totals).toEqual([12]);
    expect(handlers).toEqual(Array.from({ length: 6 }, () => "function"));
    expect(stores).toEqual([1, "function", "function", expect.any(Number)]);
  });

  function compile(files: readonly string[], options: Record<string, unknown>): void {
    const config = {
      compilerOptions: {
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        verbatimModuleSyntax: true,
        target: "es2023",
        lib: ["es2023"],
        types: ["node"],
        rootDir: ".",
        ...options,
      },
      files,
    };
    writeFileSync(join(project, "tsconfig.json"), JSON.stringify(config));
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    const { status, stdout } = spawnSync(process.execPath, [tsc, "-p", "."], {
      cwd: project,
      encoding: "utf8",
    });
    expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
  }
});

test.each(Object.entries(packages))("publint reports no problem in %s", async (_name, folder) => {
  const pkgDir = join(root, "packages", folder);
  const { messages } = await publint({ pkgDir, strict: true });
  const manifest = JSON.parse(readFileSync(join(pkgDir, "package.json"), "utf8"));
  expect(messages.map((message) => formatMessage(message, manifest))).toEqual([]);
});

function pack(folder: string, into: string): string {
  const args = [
    "pack",
    join(root, "packages", folder),
    "--pack-destination",
    into,
    "--json",
    "--ignore-scripts",
  ];
  const [{ filename }] = JSON.parse(execFileSync("npm", args, { cwd: root, encoding: "utf8" }));
  return join(into, filename);
}

/** By hand, because npm would ask the registry for the packages ours depend on. */
function install(name: string, tarball: string, project: string): void {
  const target = join(project, "node_modules", name);
  mkdirSync(target, { recursive: true });
  execFileSync("tar", ["-xzf", tarball, "-C", target, "--strip-components=1"]);
}

/** Third-party packages are the installed ones; those of ours must not come from the workspace. */
function linkDependencies(project: string): void {
  for (const name of names) {
    const manifest = JSON.parse(readFileSync(join(project, "node_modules", name, "package.json"), "utf8"));
    for (const dependency of Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })) {
      if (names.includes(dependency)) continue;
      link(dependency, project);
    }
  }
}

function link(name: string, project: string): void {
  const path = join(project, "node_modules", name);
  mkdirSync(dirname(path), { recursive: true });
  rmSync(path, { force: true });
  symlinkSync(join(root, "node_modules", name), path);
}

/** `posthorn`, `posthorn/testing`, `@posthorn/receiver/postgres`, … */
function entryPoints(): string[] {
  return Object.entries(packages).flatMap(([name, folder]) => {
    const { exports } = JSON.parse(readFileSync(join(root, "packages", folder, "package.json"), "utf8"));
    const points = Object.keys(exports).filter((point) => point !== "./package.json");
    return points.map((point) => name + point.slice(1));
  });
}

function load(specifier: string, project: string): { resolved: string; exports: string[] } {
  const script = join(project, "load.mjs");
  writeFileSync(
    script,
    `const name = process.argv[2];
     const exports = Object.keys(await import(name));
     console.log(JSON.stringify({ resolved: import.meta.resolve(name), exports }));
     process.exit();`,
  );
  return JSON.parse(execFileSync(process.execPath, [script, specifier], { cwd: project, encoding: "utf8" }));
}

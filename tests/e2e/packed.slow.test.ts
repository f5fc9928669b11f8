// What npm would publish, unpacked into a project of its own: it runs from dist there, and from src only here.
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
/** What receiver-user/transactions.ts hands to the receiver. */
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

  test.each(names)("%s loads, from its dist", (name) => {
    const { resolved, exports } = load(name, project);
    expect(resolved).toBe(pathToFileURL(join(project, "node_modules", name, "dist/index.js")).href);
    expect(exports.length).toBeGreaterThan(0);
  });

  test.each(furtherEntryPoints())("%s loads, from its dist", (specifier) => {
    const { resolved, exports } = load(specifier, project);
    expect(resolved).toMatch(/node_modules\/(@posthorn\/)?\w+\/dist\/[\w/-]+\.js$/);
    expect(exports.length).toBeGreaterThan(0);
  });

  test("the posthorn command answers", () => {
    const bin = join(project, "node_modules/@posthorn/server/bin/posthorn.js");
    expect(execFileSync(process.execPath, [bin, "--help"], { cwd: project, encoding: "utf8" })).toContain(
      "posthorn",
    );
  });

  test("@posthorn/server carries the pages of the dashboard, where they were built", () => {
    const built = join(root, "packages/server/static");
    const packed = join(project, "node_modules/@posthorn/server/static");
    const filesIn = (folder: string) =>
      existsSync(folder) ? readdirSync(folder, { recursive: true }).map(String).toSorted() : [];
    expect(filesIn(packed)).toEqual(filesIn(built));
  });

  test.each(names)("%s carries its sources for debuggers, and no tests", (name) => {
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
    cpSync(fileURLToPath(new URL("./receiver-user", import.meta.url)), project, { recursive: true });
    writeFileSync(join(project, "package.json"), JSON.stringify({ type: "module" }));
  });
  afterAll(() => rmSync(project, { recursive: true, force: true }));

  test.each([
    { module: "nodenext", moduleResolution: "nodenext" },
    { module: "esnext", moduleResolution: "bundler" },
  ])("type-checks strictly with $moduleResolution, and runs", (resolution) => {
    // our declarations are checked too; those of some libraries would not pass
    compile("entry-points.ts", { ...resolution, skipLibCheck: false });
    compile("edge.ts", { ...resolution, skipLibCheck: false, lib: ["es2023", "dom"], types: [] });
    compile("transactions.ts", { ...resolution, skipLibCheck: true });
    const { statuses, totals, handlers, stores } = JSON.parse(
      run("entry-points.js").split("\n").at(-2) as string,
    );
    expect(statuses).toEqual([200, 200, 200]);
    expect(totals).toEqual([12]);
    expect(handlers).toEqual(Array.from({ length: 6 }, () => "function"));
    expect(stores).toEqual([1, "function", "function", expect.any(Number)]);
    expect(run("transactions.js")).toBe("made\n");
  });

  function compile(file: string, options: Record<string, unknown>): void {
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
      files: [file],
    };
    writeFileSync(join(project, "tsconfig.json"), JSON.stringify(config));
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    const { status, stdout } = spawnSync(process.execPath, [tsc, "-p", "."], {
      cwd: project,
      encoding: "utf8",
    });
    expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
  }

  const run = (file: string): string =>
    execFileSync(process.execPath, [file], { cwd: project, encoding: "utf8" });
});

describe("in this workspace", () => {
  test.each(Object.entries(packages))("%s resolves to its sources under posthorn-source", (name, folder) => {
    const expected = pathToFileURL(join(root, "packages", folder, "src/index.ts")).href;
    expect(resolve(name, ["--conditions=posthorn-source"])).toBe(expected);
  });

  test.each(Object.entries(packages))("%s resolves to its dist without it", (name, folder) => {
    expect(resolve(name, [])).toBe(pathToFileURL(join(root, "packages", folder, "dist/index.js")).href);
  });
});

test.each(Object.entries(packages))("publint finds nothing to say about %s", async (_name, folder) => {
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

/** `posthorn/testing`, `@posthorn/receiver/postgres`, … */
function furtherEntryPoints(): string[] {
  return Object.entries(packages).flatMap(([name, folder]) => {
    const { exports } = JSON.parse(readFileSync(join(root, "packages", folder, "package.json"), "utf8"));
    const further = Object.keys(exports).filter((point) => point !== "." && point !== "./package.json");
    return further.map((point) => name + point.slice(1));
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

function resolve(specifier: string, flags: string[]): string {
  const code = `console.log(import.meta.resolve(${JSON.stringify(specifier)}))`;
  const args = [...flags, "--input-type=module", "--eval", code];
  return execFileSync(process.execPath, args, { cwd: root, encoding: "utf8" }).trim();
}

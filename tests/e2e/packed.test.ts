// What npm would publish, unpacked into a project of its own: it runs from dist there, and from src only here.
import { execFileSync } from "node:child_process";
import {
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
  "@posthorn/server": "server",
};
const names = Object.keys(packages);

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

  test("posthorn/testing loads, from its dist", () => {
    expect(load("posthorn/testing", project).resolved).toMatch(
      /node_modules\/posthorn\/dist\/testing\/index\.js$/,
    );
  });

  test("the posthorn command answers", () => {
    const bin = join(project, "node_modules/@posthorn/server/bin/posthorn.js");
    expect(execFileSync(process.execPath, [bin, "--help"], { cwd: project, encoding: "utf8" })).toContain(
      "posthorn",
    );
  });

  test.each(names)("%s carries its sources for debuggers, and no tests", (name) => {
    const files = readdirSync(join(project, "node_modules", name), { recursive: true }).map(String);
    expect(files).toContain("src/index.ts");
    expect(files.filter((file) => /\.test\.|tsbuildinfo/.test(file))).toEqual([]);
  });
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
      const link = join(project, "node_modules", dependency);
      mkdirSync(dirname(link), { recursive: true });
      rmSync(link, { force: true });
      symlinkSync(join(root, "node_modules", dependency), link);
    }
  }
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

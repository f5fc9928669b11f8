// What the posthorn command loads before it does anything. The start-up time is mostly the time to load code; this checks its
// cause, because times differ between machines.
import { isBuiltin } from "node:module";
import type { OutputChunk } from "rolldown";
import { describe, expect, test } from "vitest";

const script = new URL("../../scripts/build-command.mjs", import.meta.url).href;
const { buildCommand } = await import(/* @vite-ignore */ script);
const chunks: readonly OutputChunk[] = await buildCommand({ write: false });

const engine = "packages/posthorn/src/engine.ts";
const contract = "packages/client/src/contract/contract.ts";
const api = "packages/server/src/api/handler.ts";

test("the definitions of all commands, sign and verify need neither engine, nor API, nor a library but commander", () => {
  const { modules, libraries } = loadedBy("cli/main.ts");
  expect(modules).toContain("packages/server/src/cli/signature/sign.ts");
  expect(modules).toContain("packages/server/src/cli/signature/verify.ts");
  expect(
    modules.filter((path) => /^packages\/(client\/src\/contract|server\/src\/api)\//.test(path)),
  ).toEqual([]);
  expect(modules).not.toContain(engine);
  expect(libraries).toEqual(["commander"]);
});

test("a command that uses the API needs its contract, but no engine and no database driver", () => {
  const { modules, libraries } = loadedBy("cli/remote/connection.ts");
  expect(modules).toContain(contract);
  expect(modules).not.toContain(engine);
  expect(libraries).toEqual(["commander", "zod"]);
});

describe.each(["serve", "dev"])("%s", (command) => {
  test("starts PostgreSQL before it loads engine, API and libraries", () => {
    const { modules, libraries } = loadedBy(`cli/local/${command}.ts`);
    expect(modules).toContain("packages/embedded-postgres/src/launch.ts");
    expect(modules).not.toContain(engine);
    expect(modules).not.toContain(api);
    expect(libraries).toEqual(["commander"]);
  });

  test("loads engine and API in one step each, and no other command, mail or tracing", () => {
    const { modules, libraries } = loadedBy(
      `cli/local/${command}.ts`,
      "cli/local/serving.ts",
      "posthorn/src/index.ts",
    );
    expect(modules).toEqual(expect.arrayContaining([engine, api, contract]));
    const others = /cli\/(doctor|remote\/connection|resources\/call-operation|local\/(migrate|reencrypt))/;
    expect(modules.filter((path) => others.test(path))).toEqual([]);
    expect(libraries).toEqual(["commander", "pg", "zod"]);
  });
});

/** The modules and libraries in the files that Node loads for these modules. */
function loadedBy(...entries: readonly string[]) {
  const files = new Set<string>();
  const visit = (file: string): void => {
    const chunk = chunks.find(({ fileName }) => fileName === file);
    if (files.has(file)) return;
    files.add(file);
    for (const imported of chunk?.imports ?? []) visit(imported);
  };
  for (const entry of entries) visit(chunkOf(entry).fileName);
  const paths = chunks
    .filter(({ fileName }) => files.has(fileName))
    .flatMap(({ moduleIds }) => moduleIds.map(pathOf));
  const external = [...files].filter((file) => !file.endsWith(".js") && !isBuiltin(file));
  const inlined = paths.flatMap((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
  return { modules: paths, libraries: [...new Set([...external, ...inlined])].toSorted() };
}

function chunkOf(entry: string): OutputChunk {
  const found = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith(`/${entry}`));
  if (found === undefined) throw new Error(`${entry} has no file of its own.`);
  return found;
}

function pathOf(moduleId: string): string {
  return moduleId.replace(/^.*?\/(?=(packages|node_modules)\/)/, "");
}

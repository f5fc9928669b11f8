// Bundles a program that tests start and kill many times: loading its TypeScript sources one by one takes a second of
// processor time per process, loading the bundle a quarter of that.
import { mkdirSync, renameSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

/** Within the repository, so that modules outside of the bundle can be resolved. */
const folder = fileURLToPath(new URL("../../../node_modules/.cache/posthorn-tests/", import.meta.url));
const ours = /^(\.|\/|posthorn$|posthorn\/|@posthorn\/)/;

/** Returns the path of a program for Node. */
export async function bundleProgram(source: URL): Promise<string> {
  const input = fileURLToPath(source);
  const file = `${folder}${basename(input, ".ts")}.mjs`;
  const unfinished = `${folder}${basename(input, ".ts")}.${process.pid}.mjs`;
  mkdirSync(folder, { recursive: true });
  const bundle = await rolldown({
    input,
    platform: "node",
    external: (id) => !ours.test(id),
    resolve: { conditionNames: ["posthorn-source", "node", "import"] },
  });
  await bundle.write({ file: unfinished, format: "esm" });
  await bundle.close();
  // in one step: another test process may be starting the same program
  renameSync(unfinished, file);
  return file;
}

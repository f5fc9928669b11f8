// Plants a bug by replacing a text of a source file while it is loaded.
import { readFileSync, writeSync } from "node:fs";
import { fileURLToPath } from "node:url";

let edits = [];

export function initialize(given) {
  edits = given;
}

export async function load(url, context, nextLoad) {
  const path = url.startsWith("file:") ? fileURLToPath(url.split("?")[0]) : "";
  const here = edits.filter(({ file }) => path.endsWith(`/${file}`));
  if (here.length === 0) return await nextLoad(url, context);
  let source = readFileSync(path, "utf8");
  for (const { file, find, put } of here) {
    if (source.split(find).length !== 2)
      throw new Error(`${file} does not contain the text to replace exactly once`);
    source = source.replace(find, () => put);
    // the parent process checks this line
    writeSync(2, `${JSON.stringify({ level: "info", message: "planted", file })}\n`);
  }
  return { format: "module", source, shortCircuit: true };
}

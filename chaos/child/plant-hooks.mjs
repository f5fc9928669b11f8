// Plants a bug: changes one named text of a source file while it is loaded. The sources themselves know nothing of it.
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
      throw new Error(`${file} does not hold the text to change exactly once`);
    source = source.replace(find, () => put);
    // the parent waits for this line: a bug that was not planted proves nothing
    writeSync(2, `${JSON.stringify({ level: "info", message: "planted", file })}\n`);
  }
  return { format: "module", source, shortCircuit: true };
}

// Bundles the posthorn command. Unbundled it has 500 files, and Node needs 0.7 s to load them. What a command imports on
// demand becomes a file of its own.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const server = fileURLToPath(new URL("../packages/server", import.meta.url));

/** Loaded from node_modules: optional, or worth updating without a new version of Posthorn because they use the network. */
const external = ["pg", "nodemailer", "@opentelemetry/api", "@opentelemetry/sdk-node"];

/** Returns the files, and writes them unless `write` is false. All are in one folder, see `PACKAGE_FOLDER`. */
export async function buildCommand({ write = true } = {}) {
  const bundle = await rolldown({
    input: { main: join(server, "src/cli/main.ts") },
    platform: "node",
    external,
    resolve: { conditionNames: ["posthorn-source", "node", "import"] },
  });
  const options = { dir: join(server, "bundle"), cleanDir: true };
  const { output } = await (write ? bundle.write(options) : bundle.generate(options));
  await bundle.close();
  return output;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildCommand();

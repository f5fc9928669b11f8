// Builds the migrations module, the packages and the dashboard. Takes 0.3 s if nothing changed.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

export function build() {
  run([join(root, "scripts/build-migrations.mjs")]);
  run([
    join(root, "node_modules/typescript/bin/tsc"),
    "-b",
    "packages/wire",
    "packages/receiver",
    "packages/posthorn",
    "packages/client",
    "packages/embedded-postgres",
    "packages/server",
  ]);
  if (isDashboardOld()) run([join(root, "node_modules/vite/bin/vite.js"), "build", "packages/dashboard"]);
}

function isDashboardOld() {
  const built = join(root, "packages/server/static/index.html");
  if (!existsSync(built)) return true;
  const builtAt = statSync(built).mtimeMs;
  const sources = ["packages/dashboard/src", "packages/client/src", "packages/wire/src"].flatMap(filesIn);
  const others = ["index.html", "portal.html", "vite.config.ts", "package.json"];
  return [...sources, ...others.map((name) => join(root, "packages/dashboard", name))].some(
    (path) => statSync(path).mtimeMs > builtAt,
  );
}

function filesIn(folder) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

function run(args) {
  // with another NODE_ENV React's development build would be bundled
  const env = { ...process.env, NODE_ENV: "production" };
  const { status, error } = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit", env });
  if (error) throw error;
  if (status !== 0) throw new Error(`The build failed: ${args[0].replace(root, "")} exited with ${status}.`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    build();
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}

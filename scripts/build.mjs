// Builds the migrations module, the packages, the posthorn command and the dashboard. Takes 0.3 s if nothing changed.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

function build() {
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
  if (isOld("packages/server/bundle/main.js", commandSources)) run([join(root, "scripts/build-command.mjs")]);
  if (isOld("packages/server/static/index.html", dashboardSources))
    run([join(root, "node_modules/vite/bin/vite.js"), "build", "packages/dashboard"]);
}

const shared = ["packages/wire/src", "packages/client/src", "package-lock.json"];
const commandSources = [
  ...shared,
  "packages/posthorn/src",
  "packages/server/src",
  "scripts/build-command.mjs",
];
const dashboardSources = [
  ...shared,
  "packages/dashboard/src",
  ...["index.html", "portal.html", "docs.html", "vite.config.ts", "package.json"].map(
    (name) => `packages/dashboard/${name}`,
  ),
];

function isOld(built, sources) {
  if (!existsSync(join(root, built))) return true;
  const builtAt = statSync(join(root, built)).mtimeMs;
  return sources.flatMap(filesIn).some((path) => statSync(path).mtimeMs > builtAt);
}

function filesIn(source) {
  const path = join(root, source);
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
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

/** For scripts: without a stack trace, because the failed tool has printed its errors. */
export function buildOrExit() {
  try {
    build();
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) buildOrExit();

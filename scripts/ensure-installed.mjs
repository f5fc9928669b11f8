// Installs dependencies if they are missing or do not match package-lock.json. With --to-run it installs what the packages
// need to be built and run, without the repository's own development dependencies, which are 300 MB. It must also run on
// old Node versions to report them: no node: prefix, ??, ?. or top-level await.
import { spawn } from "child_process";
import { createHash } from "crypto";
import { existsSync, mkdirSync, readFileSync, rmdirSync, statSync, utimesSync, writeFileSync } from "fs";
import { dirname, join } from "path";
import { fileURLToPath } from "url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const installedLock = join(root, "node_modules/.package-lock.json"); // written by npm at the end of an install
const stamp = join(root, "node_modules/.installed-lock");
const lockDir = join(root, ".installing");
// a complete installation stays complete
const isToRun = process.argv.indexOf("--to-run") !== -1 && (readStamp() === "" || isForRunning(readStamp()));
const lockHeartbeatMs = 2000;
const lockStaleAfterMs = 10000;

checkNodeVersion();
if (!isInstalled()) installOnce();

function checkNodeVersion() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  fail(`Posthorn needs Node 20.19 or newer; this is ${process.versions.node} (${process.execPath}).`);
}

// Compares contents, because switching branches changes the lock file's time. Without a stamp, npm was run directly: that is
// accepted if all packages of the lock file are installed.
function isInstalled() {
  if (!existsSync(installedLock)) return false;
  if (existsSync(stamp)) return readStamp() === lockHash() || (isToRun && readStamp() === stampToRun());
  const wanted = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")).packages;
  const installed = JSON.parse(readFileSync(installedLock, "utf8")).packages;
  const buildTools = Object.keys(wanted)
    .filter((path) => path !== "")
    .reduce((names, path) => names.concat(Object.keys(wanted[path].devDependencies || {})), []);
  return Object.keys(wanted).every((path) => {
    const { version, optional, dev, link } = wanted[path];
    const isWorkspace = path.indexOf("node_modules/") === -1;
    return (
      isWorkspace ||
      link ||
      optional ||
      (isToRun && dev && buildTools.indexOf(path.replace("node_modules/", "")) === -1) ||
      (installed[path] && installed[path].version === version)
    );
  });
}

function readStamp() {
  return existsSync(stamp) ? readFileSync(stamp, "utf8") : "";
}

function stampToRun() {
  return `${lockHash()} to run`;
}

function isForRunning(stamped) {
  return / to run$/.test(stamped);
}

function lockHash() {
  return createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
}

// Concurrent installs would break each other: the second waits for the first.
function installOnce() {
  if (acquireLock()) {
    install();
    return;
  }
  setTimeout(() => {
    if (!isInstalled()) installOnce();
  }, 1000);
}

function acquireLock() {
  try {
    mkdirSync(lockDir);
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") {
      fail(`Cannot write to ${root} (${error.code}). Use a clone that your user owns, or change its owner.`);
    }
    waitOrRemoveStaleLock();
    return false;
  }
}

function waitOrRemoveStaleLock() {
  try {
    if (Date.now() - statSync(lockDir).mtimeMs > lockStaleAfterMs) rmdirSync(lockDir);
    else console.log("Another install is running here; waiting …");
  } catch (error) {
    if (error.code !== "ENOENT") throw error; // released meanwhile
  }
}

function install() {
  console.log("Installing dependencies …");
  const startedAt = Date.now();
  const seconds = () => `${Math.round((Date.now() - startedAt) / 1000)} s`;
  // "npm ci" removes node_modules, which a running server may be using; "npm install" only adds packages.
  const how = !isToRun && readStamp() === stampToRun() ? ["install", "--no-save"] : ["ci"];
  const which = isToRun ? ["--workspaces", "--include=dev"] : ["--include=dev"];
  const args = how.concat(which, "--no-audit", "--no-fund");
  const timers = [
    setInterval(() => utimesSync(lockDir, new Date(), new Date()), lockHeartbeatMs),
    setInterval(() => console.log(`  still installing, ${seconds()}`), 5000),
  ];
  const finish = () => {
    timers.forEach(clearInterval);
    rmdirSync(lockDir);
  };
  const succeed = () => {
    finish();
    writeFileSync(stamp, isToRun ? stampToRun() : lockHash());
    console.log(`Installed in ${seconds()}.`);
  };
  // The cache may describe a package as it was before a version in the lock file was published.
  runNpm(args.concat("--prefer-offline"), finish, succeed, () => {
    console.log("Installing again, with current package data …");
    runNpm(args.concat("--prefer-online"), finish, succeed, (ending) => {
      finish();
      fail(
        `Installing dependencies failed (npm exited with ${ending}; see its message above). ` +
          "Check the network connection and the owner of node_modules.",
      );
    });
  });
}

function runNpm(args, finish, onSuccess, onFailure) {
  const npm = startNpm(args);
  let isStopping = false;
  // otherwise npm keeps running
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
  const stop = (signal) => {
    isStopping = true;
    npm.kill(signal);
  };
  for (const signal of signals) process.on(signal, stop);
  npm.on("error", (error) => {
    finish();
    fail(`Cannot run npm: ${error.message}`);
  });
  npm.on("exit", (code, signal) => {
    for (const name of signals) process.removeListener(name, stop);
    if (code === 0) return onSuccess();
    if (!isStopping) return onFailure(signal || code);
    finish();
    fail("Installing dependencies was interrupted.");
  });
}

// Uses the npm that runs this script, because PATH may contain another. Settings for a workspace, for omitting packages or for
// a dry run must not apply to this install.
function startNpm(args) {
  const env = Object.assign({}, process.env);
  for (const key of Object.keys(env)) {
    if (/^npm_config_(workspaces?|include_workspace_root|omit|dry_run)$/i.test(key)) delete env[key];
  }
  const options = { cwd: root, env, stdio: "inherit" };
  const npmScript = env.npm_execpath || "";
  if (/npm-cli\.js$/.test(npmScript)) return spawn(process.execPath, [npmScript].concat(args), options);
  return spawn("npm", args, options);
}

function fail(text) {
  console.error(`\n${text}\n`);
  process.exit(1);
}

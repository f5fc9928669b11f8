// Installs dependencies when they are missing or older than package-lock.json, before anything that needs them runs.
// With --to-run only what building and starting take: the frameworks, drivers and vendors' SDKs that the tests hold us
// against are 300 MB, and nobody should wait for them who wants to see it run.
// An old Node must be able to read this far to say that it is too old: so no node: prefix, ??, ?. or top-level await.
import { spawn } from "child_process";
import { createHash } from "crypto";
import { existsSync, mkdirSync, readFileSync, rmdirSync, statSync, utimesSync, writeFileSync } from "fs";
import { dirname, join } from "path";
import { fileURLToPath } from "url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const installedLock = join(root, "node_modules/.package-lock.json"); // written by npm when it has finished
const stamp = join(root, "node_modules/.installed-lock");
const claim = join(root, ".installing");
// who has all of it keeps all of it
const isToRun = process.argv.indexOf("--to-run") !== -1 && (stampNow() === "" || isForRunning(stampNow()));
const claimRenewedEveryMs = 2000;
const claimDeadAfterMs = 10000;

checkNodeVersion();
if (!isInstalled()) installOnce();

function checkNodeVersion() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  fail(`Posthorn needs Node 20.19 or newer; this is ${process.versions.node} (${process.execPath}).`);
}

// By content: every switch of branches changes the lock file's time. Without our stamp somebody else installed, by hand
// or into an image without network: good enough when everything the lock names is there.
function isInstalled() {
  if (!existsSync(installedLock)) return false;
  if (existsSync(stamp)) return stampNow() === lockHash() || (isToRun && stampNow() === stampToRun());
  const wanted = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")).packages;
  const installed = JSON.parse(readFileSync(installedLock, "utf8")).packages;
  return Object.keys(wanted).every((path) => {
    const { version, optional, dev, link } = wanted[path];
    const isOurs = path.indexOf("node_modules/") === -1;
    return (
      isOurs ||
      link ||
      optional ||
      (isToRun && dev) ||
      (installed[path] && installed[path].version === version)
    );
  });
}

function stampNow() {
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

// Two installs into one folder break each other: the second one waits for the first and then finds it done.
function installOnce() {
  if (takeClaim()) {
    install();
    return;
  }
  setTimeout(() => {
    if (!isInstalled()) installOnce();
  }, 1000);
}

function takeClaim() {
  try {
    mkdirSync(claim);
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") {
      fail(`Cannot write to ${root} (${error.code}). Clone it as the user you are, or fix its owner.`);
    }
    waitOrDropDeadClaim();
    return false;
  }
}

function waitOrDropDeadClaim() {
  try {
    if (Date.now() - statSync(claim).mtimeMs > claimDeadAfterMs) rmdirSync(claim);
    else console.log("Another install is running here; waiting …");
  } catch (error) {
    if (error.code !== "ENOENT") throw error; // released in this moment
  }
}

function install() {
  console.log("Installing dependencies …");
  const startedAt = Date.now();
  const seconds = () => `${Math.round((Date.now() - startedAt) / 1000)} s`;
  // "ci" begins by removing what is there, which a server started from here may be running on: so the rest is added.
  const how = !isToRun && stampNow() === stampToRun() ? ["install", "--no-save"] : ["ci"];
  const which = isToRun ? "--omit=dev" : "--include=dev";
  const npm = startNpm(how.concat(which, "--prefer-offline", "--no-audit", "--no-fund"));
  const timers = [
    setInterval(() => utimesSync(claim, new Date(), new Date()), claimRenewedEveryMs),
    setInterval(() => console.log(`  still installing, ${seconds()}`), 5000),
  ];
  const finish = () => {
    timers.forEach(clearInterval);
    rmdirSync(claim);
  };
  // Otherwise npm lives on and fights with the next run.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => npm.kill(signal));
  npm.on("error", (error) => {
    finish();
    fail(`Cannot run npm: ${error.message}`);
  });
  npm.on("exit", (code, signal) => {
    finish();
    if (code !== 0) {
      fail(
        `Installing dependencies failed (npm ended with ${signal || code}; its message is above). ` +
          "Is there a network, or a filled npm cache? Does node_modules belong to another user?",
      );
    }
    writeFileSync(stamp, isToRun ? stampToRun() : lockHash());
    console.log(`Installed in ${seconds()}.`);
  });
}

// The npm that runs us, if one does: PATH may hold another. Its settings for one workspace, for leaving out
// development packages or for a dry run must not reach this install.
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

// Programs of the system that tests run against. Where root runs the tests on a Debian without them they are installed.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Test files run beside each other, and apt-get fails where another one is at work. */
const lockFile = join(tmpdir(), "posthorn-apt-get.lock");

/** Whether it is there now. RUNLEVEL=1 keeps Debian from starting what it installs. */
export function installPackage(name: string): boolean {
  if (process.getuid?.() !== 0 || !existsSync("/etc/debian_version")) return false;
  const env = { ...process.env, RUNLEVEL: "1", DEBIAN_FRONTEND: "noninteractive" };
  const aptGet = (...args: string[]) =>
    execFileSync("flock", [lockFile, "apt-get", ...args], { env, stdio: "ignore", timeout: 120_000 });
  for (const prepare of [() => {}, () => aptGet("update")]) {
    try {
      prepare();
      aptGet("install", "-y", "--no-install-recommends", name);
      return true;
    } catch {
      // without package lists, or without a network
    }
  }
  return false;
}

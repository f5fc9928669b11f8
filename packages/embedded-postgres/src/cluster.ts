// Creates the database cluster on first use, and rejects one of another major version.
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Binaries, noBinaries } from "./binaries.ts";
import { EmbeddedPostgresError, hasCode, useOwnDatabase } from "./error.ts";
import type { Home } from "./home.ts";

export const superuser = "posthorn";

export function clusterExists(home: Home): boolean {
  return existsSync(join(home.cluster, "PG_VERSION"));
}

export function checkVersion(home: Home, majorVersion: number): void {
  if (!clusterExists(home)) return;
  const found = Number.parseInt(readFileSync(join(home.cluster, "PG_VERSION"), "utf8"), 10);
  if (found === majorVersion) return;
  throw new EmbeddedPostgresError(
    "data_directory_version",
    `The database in ${home.cluster} was created by PostgreSQL ${found}, and this Posthorn includes PostgreSQL ` +
      `${majorVersion}, which cannot read it. Dump it with the Posthorn that created it and restore the dump into a ` +
      `new data directory (POSTHORN_DATA_DIR). ${useOwnDatabase}`,
  );
}

/**
 * Runs initdb, which takes 0.6 s. Creates the cluster under a temporary name and renames it, so that a killed start
 * leaves no incomplete cluster. The name is new each time, because initdb of a killed process may still be running.
 */
export async function createCluster(binaries: Binaries, home: Home): Promise<void> {
  await removeUnfinished(home);
  const unfinished = join(home.dir, `${unfinishedPrefix}${randomBytes(6).toString("hex")}`);
  await run(binaries.initdb, initdbArguments(unfinished), home);
  await rename(unfinished, home.cluster);
}

const unfinishedPrefix = "data.unfinished-";

async function removeUnfinished(home: Home): Promise<void> {
  for (const name of readdirSync(home.dir).filter((entry) => entry.startsWith(unfinishedPrefix))) {
    await rm(join(home.dir, name), { recursive: true, maxRetries: 10 });
  }
}

/**
 * `trust` is safe because only this account and root can reach the socket: its folder has mode 0700, there is no TCP
 * listener, and host connections are rejected if one is enabled. A password would not protect anything more, because
 * the same account owns the data files.
 */
function initdbArguments(cluster: string): string[] {
  return [
    `--pgdata=${cluster}`,
    `--username=${superuser}`,
    "--auth-local=trust",
    "--auth-host=reject",
    "--encoding=UTF8",
    "--locale=C",
    "--no-instructions",
  ];
}

async function run(file: string, args: string[], home: Home): Promise<void> {
  try {
    await promisify(execFile)(file, args, { cwd: home.dir, env: serverEnvironment(), ...home.account });
  } catch (error) {
    throw explain(error, home);
  }
}

/** A minimal environment, so that PGDATA, PGPORT or a locale of the caller do not affect the server. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH ?? "/usr/bin:/bin", LC_ALL: "C" };
}

export function explain(error: unknown, home: Home): unknown {
  // The file exists, so its dynamic loader is missing: musl instead of glibc.
  if (hasCode(error, "ENOENT"))
    return noBinaries(`${process.platform}-${process.arch} with this C library`, error);
  const output = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : String(error);
  if (hasCode(error, "EPERM", "EINVAL") || output.includes("could not look up effective user ID")) {
    return new EmbeddedPostgresError(
      "account_unusable",
      `PostgreSQL cannot run under user id ${home.account?.uid ?? process.getuid?.()} here (${output}). ` +
        `It needs a user that is not root and is named in /etc/passwd. ${useOwnDatabase}`,
      { cause: error },
    );
  }
  return new EmbeddedPostgresError(
    "start_failed",
    `The embedded PostgreSQL could not be set up in ${home.dir}:\n${output}\n${useOwnDatabase}`,
    { cause: error },
  );
}

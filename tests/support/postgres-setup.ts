// One real PostgreSQL (fsync on) for all integration tests of a run. Each test makes its own database in it: see
// postgres.ts.
import { chmodSync, lstatSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { openEmbeddedPostgres } from "../../packages/server/src/embedded-postgres/open-embedded-postgres.ts";

declare module "vitest" {
  interface ProvidedContext {
    postgresUrl: string;
  }
}

const prefix = "posthorn-tests-";

export default async function startPostgres(project: TestProject): Promise<() => Promise<void>> {
  await removeLeftovers();
  const dataDir = mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`));
  // Run by root, PostgreSQL runs under another account, which has to get in here.
  chmodSync(dataDir, 0o755);
  // Every test file holds a few connections and many files run at once.
  const postgres = await openEmbeddedPostgres({
    dataDir,
    settings: { max_connections: "300" },
  });
  project.provide("postgresUrl", postgres.connectionString);
  return async () => {
    await postgres.close();
    rmSync(dataDir, { recursive: true, force: true });
  };
}

/** A killed run leaves its server and data behind: opening adopts the server, closing stops it. */
async function removeLeftovers(): Promise<void> {
  for (const name of readdirSync(tmpdir()).filter((entry) => entry.startsWith(prefix))) {
    if (isRunning(Number.parseInt(name.slice(prefix.length), 10))) continue;
    const dataDir = join(tmpdir(), name);
    if (lstatSync(dataDir, { throwIfNoEntry: false })?.uid !== process.getuid?.()) continue;
    try {
      await (await openEmbeddedPostgres({ dataDir })).close();
      rmSync(dataDir, { recursive: true, force: true });
    } catch {
      // Another run is removing it now.
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

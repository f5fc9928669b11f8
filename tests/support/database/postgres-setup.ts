// One real PostgreSQL for all integration tests of a run. Each test creates its own database in it: see postgres.ts.
// It runs without fsync, which took a fifth of the time: no test simulates a power loss, and writes of a process survive
// its crash without it. Tests that stop PostgreSQL, or test durability, start their own.
import { lstatSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { openEmbeddedPostgres } from "../../../packages/embedded-postgres/src/open.ts";
import { Database } from "../../../packages/posthorn/src/storage/database.ts";
import { migrate } from "../../../packages/posthorn/src/storage/migrate.ts";
import { makePostgresFolder, postgresFolders, queryOnce } from "./own-postgres.ts";

declare module "vitest" {
  interface ProvidedContext {
    postgresUrl: string;
    /** The name of a database with Posthorn's schema, to be copied. */
    migratedTemplate: string;
  }
}

const prefix = "posthorn-tests-";

export default async function startPostgres(project: TestProject): Promise<() => Promise<void>> {
  await removeLeftovers();
  const dataDir = makePostgresFolder(`${prefix}${process.pid}-`);
  // Every test file holds a few connections and many files run at once. The folder may be in memory, so the WAL is small.
  // Autovacuum would lock tables and change plans and statistics at any time.
  const postgres = await openEmbeddedPostgres({
    dataDir,
    settings: {
      max_connections: "300",
      fsync: "off",
      full_page_writes: "off",
      max_wal_size: "1GB",
      autovacuum: "off",
    },
  });
  project.provide("postgresUrl", postgres.connectionString);
  project.provide("migratedTemplate", await migrateTemplate(postgres.connectionString));
  return async () => {
    await postgres.close();
    rmSync(dataDir, { recursive: true, force: true });
  };
}

/** The template for most tests. A copy takes 20 ms of processor time; migrating an empty database takes 190. */
async function migrateTemplate(connectionString: string): Promise<string> {
  const name = "migrated";
  await queryOnce(connectionString, `create database ${name}`);
  const url = new URL(connectionString);
  url.pathname = `/${name}`;
  const db = new Database({ database: url.href, schema: "posthorn" });
  await migrate(db);
  await db.close();
  return name;
}

/** A killed run leaves its server and data behind: opening adopts the server, closing stops it. */
async function removeLeftovers(): Promise<void> {
  const folders = [...new Set([postgresFolders, tmpdir()])];
  const left = folders.flatMap((folder) => readdirSync(folder).map((name) => ({ folder, name })));
  for (const { folder, name } of left.filter(({ name }) => name.startsWith(prefix))) {
    if (isRunning(Number.parseInt(name.slice(prefix.length), 10))) continue;
    const dataDir = join(folder, name);
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

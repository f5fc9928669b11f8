// A process that uses the embedded PostgreSQL, controlled over its standard input and output: a JSON array per line in
// (the command), a JSON object per line out (the result). It ends without closing when its input ends.
import { createInterface } from "node:readline";
import pg from "pg";
import { prepareBinaries } from "../../../packages/embedded-postgres/src/binaries.ts";
import { prepareHome } from "../../../packages/embedded-postgres/src/home.ts";
import { withLock } from "../../../packages/embedded-postgres/src/lock.ts";
import { type EmbeddedPostgres, openEmbeddedPostgres } from "../../../packages/embedded-postgres/src/open.ts";

let postgres: EmbeddedPostgres | undefined;

const actions: Record<string, (argument: string) => Promise<unknown>> = {
  async open(dataDir) {
    const startedAt = performance.now();
    postgres = await openEmbeddedPostgres({ dataDir });
    return { ...postgres, tookMs: performance.now() - startedAt };
  },
  async query(sql) {
    const client = new pg.Client(postgres?.connection);
    client.on("error", () => {}); // the query rejects too
    await client.connect();
    const { rows } = await client.query(sql);
    await client.end();
    return rows;
  },
  async close() {
    await postgres?.close();
  },
  async prepareBinaries(paths) {
    const [packageDir, dataDir] = paths.split("\n") as [string, string];
    return prepareBinaries({ packageDir, version: "test", majorVersion: 18 }, prepareHome(dataDir));
  },
  /** Adds one to the number in a file, in two steps that only a lock keeps together. */
  async countUnderLock(file) {
    const { readFile, writeFile } = await import("node:fs/promises");
    await withLock(`${file}.lock`, async () => {
      const before = Number(await readFile(file, "utf8"));
      await new Promise((resolve) => setImmediate(resolve));
      await writeFile(file, String(before + 1));
    });
  },
  /** Takes a lock and keeps it until this process is killed. */
  async holdLock(path) {
    await new Promise<void>((resolve) => {
      void withLock(path, () => {
        resolve();
        return new Promise(() => {});
      });
    });
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const [action, argument] = JSON.parse(line) as [string, string];
  try {
    const result = await actions[action]?.(argument);
    process.stdout.write(`${JSON.stringify({ result })}\n`);
  } catch (error) {
    const { message, code } = error as Error & { code?: string };
    process.stdout.write(`${JSON.stringify({ error: { message, code } })}\n`);
  }
}
process.exit();

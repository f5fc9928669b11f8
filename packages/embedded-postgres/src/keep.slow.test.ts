import { rmSync } from "node:fs";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { chooseDataDir } from "../../../tests/support/database/embedded-postgres-process.ts";
import { clusterOf, postmasterPid } from "../../../tests/support/database/own-postgres.ts";
import { eventually } from "../../../tests/support/eventually.ts";
import { keepEmbeddedPostgres } from "./keep.ts";

function recordingLogger() {
  const lines: string[] = [];
  const at = (level: string) => (message: string) => void lines.push(`${level} ${message}`);
  return { lines, debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

async function select1(connectionString: string): Promise<unknown> {
  const client = new pg.Client({ connectionString });
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query("select 1 as one")).rows;
  } finally {
    await client.end();
  }
}

test.each([
  ["in the data directory", "data"],
  ["elsewhere", "deep/".repeat(30)],
])("a killed server with its socket %s restarts at the same address, and logs it once", async (_, name) => {
  const dataDir = chooseDataDir({ name });
  const logger = recordingLogger();
  const postgres = await keepEmbeddedPostgres({ dataDir, logger });
  onTestFinished(() => postgres.close());
  for (const round of [1, 2]) {
    const killed = Number(postmasterPid(dataDir));
    process.kill(killed, "SIGKILL");
    await eventually("the restart is logged", () => logger.lines.length === 2 * round);
    expect(await select1(postgres.connectionString)).toEqual([{ one: 1 }]);
    expect(postmasterPid(dataDir)).not.toBe(killed);
  }
  expect(logger.lines.slice(0, 2)).toEqual([
    "warn the embedded PostgreSQL has stopped, restarting it",
    "info the embedded PostgreSQL is running again",
  ]);
  await postgres.close();
  expect(postmasterPid(dataDir)).toBeNull();
});

test("closing does not count as a failure", async () => {
  const dataDir = chooseDataDir();
  const logger = recordingLogger();
  const postgres = await keepEmbeddedPostgres({ dataDir, logger });
  await Promise.all([postgres.close(), postgres.close()]);
  expect([postmasterPid(dataDir), logger.lines]).toEqual([null, []]);
});

test("a deleted database is not replaced by an empty one", async () => {
  const dataDir = chooseDataDir();
  const logger = recordingLogger();
  const postgres = await keepEmbeddedPostgres({ dataDir, logger });
  const pid = Number(postmasterPid(dataDir));
  process.kill(pid, "SIGSTOP");
  rmSync(clusterOf(dataDir), { recursive: true, force: true, maxRetries: 10 });
  process.kill(pid, "SIGKILL");
  await eventually("an error is logged", () => logger.lines.some((line) => line.startsWith("error")));
  expect(postmasterPid(dataDir)).toBeNull();
  await postgres.close();
});

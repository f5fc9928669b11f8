// Uses real processes, because they share the server.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { expect, test } from "vitest";
import {
  chooseDataDir,
  isRoot,
  makeTemporaryFolder,
  startUser,
} from "../../../tests/support/database/embedded-postgres-process.ts";
import { clusterOf, postmasterPid } from "../../../tests/support/database/own-postgres.ts";
import { eventually, eventuallyPasses } from "../../../tests/support/eventually.ts";
import { isQuick } from "../../../tests/support/matrix.ts";
import { openEmbeddedPostgres } from "./open.ts";

test("the first open creates a durable, private UTF-8 database in UTC without a TCP listener, with its logs beside it", async () => {
  const dataDir = chooseDataDir();
  const user = startUser();
  const { connection } = await user.open(dataDir);

  const [row] = await user.query(`
    select current_setting('server_version_num')::int >= 140000 as recent,
           current_setting('fsync') as fsync,
           current_setting('synchronous_commit') as synchronous_commit,
           current_setting('server_encoding') as encoding,
           current_setting('timezone') as timezone,
           current_setting('listen_addresses') as listen_addresses,
           (select datcollate from pg_database where datname = current_database()) as collation`);

  expect(row).toEqual({
    recent: true,
    fsync: "on",
    synchronous_commit: "on",
    encoding: "UTF8",
    timezone: "UTC",
    listen_addresses: "",
    collation: "C",
  });
  expect(statSync(connection.host).mode & 0o777).toBe(0o700); // keeps other users out
  await user.close();
  const log = join(dataDir, "postgres/log");
  const logged = readdirSync(log).map((name) => readFileSync(join(log, name), "utf8"));
  expect(logged.join("\n")).toContain("ready to accept connections");
});

test.skipIf(isQuick)(
  "connection and connection string work with pg and the caller's settings, until each open is closed",
  async () => {
    const dataDir = chooseDataDir({ name: "with 100%, an ' and ä" });
    const open = () => openEmbeddedPostgres({ dataDir, settings: { max_connections: "37" } });
    const [one, two] = await Promise.all([open(), open()]);
    for (const config of [one.connection, { connectionString: two.connectionString }]) {
      const client = new pg.Client(config);
      await client.connect();
      expect((await client.query("show max_connections")).rows).toEqual([{ max_connections: "37" }]);
      await client.end();
    }
    await Promise.all([one.close(), one.close()]);
    expect(postmasterPid(dataDir)).not.toBeNull();
    await two.close();
    expect(postmasterPid(dataDir)).toBeNull();
  },
);

test.skipIf(isQuick)(
  "a data directory that is too deep for a socket path has its socket in a short private folder",
  async () => {
    const dataDir = chooseDataDir({ name: "deep/".repeat(30) });
    const [user, second] = [startUser(), startUser()];
    const { host } = (await user.open(dataDir)).connection;
    expect(host.startsWith(dataDir)).toBe(false);
    expect(statSync(host).mode & 0o777).toBe(0o700);
    expect((await second.open(dataDir)).connection.host).toBe(host);
    // the reference documents this line for psql
    expect(readFileSync(join(clusterOf(dataDir), "postmaster.pid"), "utf8").split("\n")[4]).toBe(host);
    await user.close();
    await second.close();
    expect(existsSync(host)).toBe(false);
  },
);

test("processes that open a directory at once share one server, which stops with the last of them", async () => {
  const dataDir = chooseDataDir();
  const users = [startUser(), startUser(), startUser()] as const;
  await Promise.all(users.map((user) => user.open(dataDir)));
  const pid = postmasterPid(dataDir);
  const starts = await Promise.all(
    users.map((user) => user.query("select pg_postmaster_start_time()::text as t")),
  );
  expect(new Set(starts.map(([row]) => row?.t)).size).toBe(1);
  const [closed, killed, last] = users;
  await closed.close();
  await killed.kill();
  expect(await last.query("select 1 as one")).toEqual([{ one: 1 }]);
  await last.kill();
  expect(postmasterPid(dataDir)).toBe(pid);

  await closed.open(dataDir);
  expect(postmasterPid(dataDir)).toBe(pid);
  await closed.close(); // the killed ones no longer count
  expect(postmasterPid(dataDir)).toBeNull();
});

test("after kill -9 of the server the next start waits for its last backend, and keeps committed data", async () => {
  const dataDir = chooseDataDir();
  const user = startUser();
  const { connection } = await user.open(dataDir);
  await user.query("create table kept as select 42 as answer");
  const client = new pg.Client(connection);
  client.on("error", () => {});
  await client.connect();
  const backend = (await client.query("select pg_backend_pid() as pid")).rows[0].pid;
  process.kill(backend, "SIGSTOP"); // so it does not notice that its postmaster is gone
  process.kill(Number(postmasterPid(dataDir)), "SIGKILL");

  const opening = user.open(dataDir);
  const log = join(dataDir, "postgres/log/startup.log");
  await eventually("the log names the shared memory block", () =>
    readFileSync(log, "utf8").includes("shared memory block"),
  );
  process.kill(backend, "SIGKILL");
  await opening;
  expect(await user.query("select answer from kept")).toEqual([{ answer: 42 }]);
  await user.close();
});

test.skipIf(isQuick)(
  "a stale postmaster.pid whose pid another process has by now does not prevent a start",
  async () => {
    const dataDir = chooseDataDir();
    const user = startUser();
    await user.open(dataDir);
    const pidFile = join(clusterOf(dataDir), "postmaster.pid");
    const left = readFileSync(pidFile, "utf8");
    await user.close();
    writeFileSync(pidFile, left.replace(/^\d+/, String(process.pid)));

    await user.open(dataDir);
    expect(await user.query("select 1 as one")).toEqual([{ one: 1 }]);
    await user.close();
  },
);

test.skipIf(isQuick)("a start that is killed during initdb leaves nothing behind", async () => {
  const dataDir = chooseDataDir();
  const killed = startUser();
  const opening = killed.open(dataDir).catch(() => {});
  const unfinished = () =>
    readdirSync(join(dataDir, "postgres")).filter((name) => name.includes("unfinished"));
  await eventually(
    "initdb is running",
    () => existsSync(join(dataDir, "postgres")) && unfinished().length > 0,
  );
  await killed.kill();
  await opening;

  const next = startUser();
  await next.open(dataDir);
  await next.close();
  expect(unfinished()).toEqual([]);
});

/** The server keeps writing while its files are removed, so it takes several rounds. */
function removeUnderTheServer(folder: string): void {
  for (let round = 1; existsSync(folder); round += 1) {
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      if (round === 100) throw error;
    }
  }
}

test.skipIf(isQuick)("closing stops the server even if the data directory was deleted", async () => {
  const dataDir = chooseDataDir();
  const user = startUser();
  await user.open(dataDir);
  const pid = Number(postmasterPid(dataDir));
  removeUnderTheServer(dataDir);
  await user.close();
  await eventuallyPasses(() => expect(() => process.kill(pid, 0)).toThrow("ESRCH"));
});

test("a data directory of another major version is refused with both versions", async () => {
  const dataDir = chooseDataDir();
  mkdirSync(clusterOf(dataDir), { recursive: true });
  writeFileSync(join(clusterOf(dataDir), "PG_VERSION"), "15\n");
  await expect(openEmbeddedPostgres({ dataDir })).rejects.toMatchObject({
    code: "data_directory_version",
    message: expect.stringMatching(/created by PostgreSQL 15.*includes PostgreSQL 18/s),
  });
});

test.skipIf(isQuick)(
  "a data directory that cannot be created is reported with its path and what to do",
  async () => {
    const folder = makeTemporaryFolder();
    writeFileSync(join(folder, "file"), "");
    const dataDir = join(folder, "file/data");
    await expect(openEmbeddedPostgres({ dataDir })).rejects.toMatchObject({
      code: "data_directory_unusable",
      message: expect.stringMatching(new RegExp(`${dataDir}.*POSTHORN_DATA_DIR.*DATABASE_URL`, "s")),
    });
  },
);

test.skipIf(isQuick)("the error of a server that does not start contains its log", async () => {
  const opening = openEmbeddedPostgres({
    dataDir: chooseDataDir(),
    settings: { max_connections: "many" },
  });
  await expect(opening).rejects.toMatchObject({
    code: "start_failed",
    message: expect.stringContaining('invalid value for parameter "max_connections"'),
  });
});

test.skipIf(isRoot)("a folder without write permission is refused", async () => {
  const folder = makeTemporaryFolder(0o555);
  await expect(openEmbeddedPostgres({ dataDir: join(folder, "data") })).rejects.toMatchObject({
    code: "data_directory_unusable",
  });
});

// With real processes, because what is tested is what happens between them.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { expect, test } from "vitest";
import {
  chooseDataDir,
  isRoot,
  makeTemporaryFolder,
  startUser,
} from "../../../tests/support/embedded-postgres-process.ts";
import { eventually, eventuallyPasses } from "../../../tests/support/eventually.ts";
import { isQuick } from "../../../tests/support/matrix.ts";
import { clusterOf, postmasterPid } from "../../../tests/support/postmaster-pid.ts";
import { openEmbeddedPostgres } from "./open.ts";

test("the first open creates a durable UTF-8 database in UTC, private, with no TCP listener, and logs beside it", async () => {
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
  expect(statSync(connection.host).mode & 0o777).toBe(0o700); // what keeps other users out
  await user.close();
  const log = join(dataDir, "postgres/log");
  const logged = readdirSync(log).map((name) => readFileSync(join(log, name), "utf8"));
  expect(logged.join("\n")).toContain("ready to accept connections");
});

test.skipIf(isQuick)("what was written is there after the server stopped and started again", async () => {
  const dataDir = chooseDataDir();
  const user = startUser();
  await user.open(dataDir);
  await user.query("create table kept as select 42 as answer");
  await user.close();
  expect(postmasterPid(dataDir)).toBeNull();

  await user.open(dataDir);
  expect(await user.query("select answer from kept")).toEqual([{ answer: 42 }]);
  await user.close();
});

test.skipIf(isQuick)(
  "connection and connection string work with pg, settings of the caller win, closing twice is fine",
  async () => {
    const postgres = await openEmbeddedPostgres({
      dataDir: chooseDataDir({ name: "with 100%, an ' and ä" }),
      settings: { max_connections: "37" },
    });
    for (const config of [postgres.connection, { connectionString: postgres.connectionString }]) {
      const client = new pg.Client(config);
      await client.connect();
      expect((await client.query("show max_connections")).rows).toEqual([{ max_connections: "37" }]);
      await client.end();
    }
    await Promise.all([postgres.close(), postgres.close()]);
  },
);

test.skipIf(isQuick).each(["shallow", "deep/".repeat(30)])(
  "psql finds the way in by the fifth line of postmaster.pid, as the reference says (%s)",
  async (name) => {
    const dataDir = chooseDataDir({ name });
    const postgres = await openEmbeddedPostgres({ dataDir });
    const lines = readFileSync(join(dataDir, "postgres/data/postmaster.pid"), "utf8").split("\n");
    const client = new pg.Client({ host: lines[4] as string, user: "posthorn", database: "postgres" });
    await client.connect();
    expect((await client.query("select current_user as who")).rows).toEqual([{ who: "posthorn" }]);
    await client.end();
    await postgres.close();
  },
);

test.skipIf(isQuick)(
  "a data directory too deep for a socket path gets its socket in a short private folder",
  async () => {
    const dataDir = chooseDataDir({ name: "deep/".repeat(30) });
    const user = startUser();
    const { connection } = await user.open(dataDir);
    expect(connection.host.startsWith(dataDir)).toBe(false);
    expect(statSync(connection.host).mode & 0o777).toBe(0o700);
    const second = startUser();
    expect((await second.open(dataDir)).connection.host).toBe(connection.host);

    await user.close();
    await second.close();
    expect(existsSync(connection.host)).toBe(false);
  },
);

test("a second process attaches to the running server, which stops with its last user", async () => {
  const dataDir = chooseDataDir();
  const [first, second] = [startUser(), startUser()];
  await first.open(dataDir);
  const pid = postmasterPid(dataDir);
  await second.open(dataDir);
  expect(postmasterPid(dataDir)).toBe(pid);

  await first.close();
  expect(await second.query("select 1 as one")).toEqual([{ one: 1 }]);
  await second.close();
  expect(postmasterPid(dataDir)).toBeNull();
});

test.skipIf(isQuick)("processes that open an empty directory at once share one server", async () => {
  const dataDir = chooseDataDir();
  const users = [startUser(), startUser(), startUser(), startUser()];
  await Promise.all(users.map((user) => user.open(dataDir)));
  const starts = await Promise.all(
    users.map((user) => user.query("select pg_postmaster_start_time()::text as t")),
  );
  expect(new Set(starts.map(([row]) => row?.t)).size).toBe(1);

  await Promise.all(users.map((user) => user.close()));
  expect(postmasterPid(dataDir)).toBeNull();
});

test.skipIf(isQuick)("two uses by one process count as two", async () => {
  const dataDir = chooseDataDir();
  const [one, two] = await Promise.all([
    openEmbeddedPostgres({ dataDir }),
    openEmbeddedPostgres({ dataDir }),
  ]);
  await one.close();
  expect(postmasterPid(dataDir)).not.toBeNull();
  await two.close();
  expect(postmasterPid(dataDir)).toBeNull();
});

test.skipIf(isQuick)(
  "the server outlives the killed process that started it while another uses it",
  async () => {
    const dataDir = chooseDataDir();
    const [starter, other] = [startUser(), startUser()];
    await starter.open(dataDir);
    await other.open(dataDir);
    await starter.kill();

    expect(await other.query("select 1 as one")).toEqual([{ one: 1 }]);
    await other.close(); // the killed one no longer counts
    expect(postmasterPid(dataDir)).toBeNull();
  },
);

test.skipIf(isQuick)(
  "after kill -9 of its only user the next start attaches to the orphaned server and stops it",
  async () => {
    const dataDir = chooseDataDir();
    const killed = startUser();
    await killed.open(dataDir);
    const orphan = postmasterPid(dataDir);
    await killed.kill();
    expect(postmasterPid(dataDir)).toBe(orphan);

    const next = startUser();
    await next.open(dataDir);
    expect(postmasterPid(dataDir)).toBe(orphan);
    await next.close();
    expect(postmasterPid(dataDir)).toBeNull();
  },
);

test("after kill -9 of the server the next start recovers what was committed", async () => {
  const dataDir = chooseDataDir();
  const killed = startUser();
  await killed.open(dataDir);
  await killed.query("create table kept as select 42 as answer");
  process.kill(Number(postmasterPid(dataDir)), "SIGKILL");
  await killed.kill();

  const next = startUser();
  await next.open(dataDir);
  expect(await next.query("select answer from kept")).toEqual([{ answer: 42 }]);
  await next.close();
});

test.skipIf(isQuick)(
  "the next start waits for a backend that outlives its killed postmaster, and loses nothing",
  async () => {
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
  },
);

test.skipIf(isQuick)(
  "a stale postmaster.pid whose number another process has by now does not stop the start",
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

test.skipIf(isQuick)("a start killed during initdb leaves nothing the next start trips over", async () => {
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

/** The server writes on while its files go: what it made meanwhile is removed in the next round. */
function removeUnderTheServer(folder: string): void {
  for (let round = 1; existsSync(folder); round += 1) {
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      if (round === 100) throw error;
    }
  }
}

test.skipIf(isQuick)("closing after the data directory was deleted ends the server", async () => {
  const dataDir = chooseDataDir();
  const user = startUser();
  await user.open(dataDir);
  const pid = Number(postmasterPid(dataDir));
  removeUnderTheServer(dataDir);
  await user.close();
  // ended, and then collected by its parent
  await eventuallyPasses(() => expect(() => process.kill(pid, 0)).toThrow("ESRCH"));
});

test("a data directory of another major version is refused by number", async () => {
  const dataDir = chooseDataDir();
  mkdirSync(clusterOf(dataDir), { recursive: true });
  writeFileSync(join(clusterOf(dataDir), "PG_VERSION"), "15\n");
  await expect(openEmbeddedPostgres({ dataDir })).rejects.toMatchObject({
    code: "data_directory_version",
    message: expect.stringMatching(/created by PostgreSQL 15.*includes PostgreSQL 18/s),
  });
});

test.skipIf(isQuick)("a data directory that cannot be made says which and what to do", async () => {
  const folder = makeTemporaryFolder();
  writeFileSync(join(folder, "file"), "");
  const dataDir = join(folder, "file/data");
  await expect(openEmbeddedPostgres({ dataDir })).rejects.toMatchObject({
    code: "data_directory_unusable",
    message: expect.stringMatching(new RegExp(`${dataDir}.*POSTHORN_DATA_DIR.*DATABASE_URL`, "s")),
  });
});

test.skipIf(isQuick)("a server that does not start says why", async () => {
  const opening = openEmbeddedPostgres({
    dataDir: chooseDataDir(),
    settings: { max_connections: "many" },
  });
  await expect(opening).rejects.toMatchObject({
    code: "start_failed",
    message: expect.stringContaining('invalid value for parameter "max_connections"'),
  });
});

test.skipIf(isRoot)("a folder of mode 0555 is refused to an ordinary user", async () => {
  const folder = makeTemporaryFolder(0o555);
  await expect(openEmbeddedPostgres({ dataDir: join(folder, "data") })).rejects.toMatchObject({
    code: "data_directory_unusable",
  });
});

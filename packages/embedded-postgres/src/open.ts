// Opens the embedded PostgreSQL of a data directory. All processes that open the same directory share one server, which
// stops when the last of them closes it.
import { existsSync } from "node:fs";
import { findInstalledBinaries, prepareBinaries } from "./binaries.ts";
import { checkVersion, clusterExists, createCluster, superuser } from "./cluster.ts";
import { type Home, prepareHome } from "./home.ts";
import { launch, type Settings } from "./launch.ts";
import { withLock } from "./lock.ts";
import { findPostmaster, type Postmaster, stopPostmaster } from "./postmaster.ts";
import { type OnProgress, withProgress } from "./progress.ts";
import { registerUser, type User } from "./users.ts";

export interface EmbeddedPostgresOptions {
  /** The database is in its folder `postgres`, which is created if it does not exist. */
  dataDir: string;
  /** Additional server settings, such as `{ max_connections: "300" }`. Ignored if the server already runs. */
  settings?: Settings;
  /** Called if a step takes longer than a second. */
  onProgress?: OnProgress | undefined;
}

export interface EmbeddedPostgres {
  /** Options for `new pg.Pool(connection)`. */
  connection: { host: string; port: number; user: string; database: string };
  /** The connection as a URL. */
  connectionString: string;
  /** Stops the server if this was its last user. Close all connections first. May be called twice. */
  close(): Promise<void>;
}

export async function openEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const installed = findInstalledBinaries();
  const home = prepareHome(options.dataDir);
  return withProgress("Waiting for the embedded PostgreSQL", options.onProgress, () =>
    withLock(home.lock, async () => {
      checkVersion(home, installed.majorVersion);
      const postmaster = (await findPostmaster(home)) ?? (await startServer(home, installed, options));
      return createHandle(home, postmaster, registerUser(home.users));
    }),
  );
}

async function startServer(
  home: Home,
  installed: ReturnType<typeof findInstalledBinaries>,
  { settings = {}, onProgress }: EmbeddedPostgresOptions,
): Promise<Postmaster> {
  const binaries = await prepareBinaries(installed, home);
  if (!clusterExists(home)) {
    await withProgress("Creating the database", onProgress, () => createCluster(binaries, home));
  }
  return launch(binaries, home, settings);
}

function createHandle(home: Home, postmaster: Postmaster, user: User): EmbeddedPostgres {
  let closing: Promise<void> | undefined;
  return {
    ...connectionTo(postmaster),
    close() {
      closing ??= closeServer(home, postmaster, user);
      return closing;
    },
  };
}

function connectionTo({
  socketDir,
  port,
}: Postmaster): Pick<EmbeddedPostgres, "connection" | "connectionString"> {
  const connection = { host: socketDir, port, user: superuser, database: "postgres" };
  const connectionString = `postgresql:///postgres?${new URLSearchParams({ host: socketDir, port: String(port), user: superuser })}`;
  return { connection, connectionString };
}

async function closeServer(home: Home, opened: Postmaster, user: User): Promise<void> {
  // The data directory was deleted while the server was running.
  if (!existsSync(home.users)) return stopPostmaster(opened, home);
  await withLock(home.lock, async () => {
    if (!user.remove().wasLast) return;
    // May differ from the opened one, if that was killed and restarted by another process.
    const running = await findPostmaster(home);
    if (running) await stopPostmaster(running, home);
  });
}

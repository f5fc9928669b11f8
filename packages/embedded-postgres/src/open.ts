// A real PostgreSQL server without installing one: the binaries come from npm, the data lies in a folder, and every
// process that opens the same folder shares one server, which stops with its last user.
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
  /** The database goes into the folder `postgres` in here. Made when missing. */
  dataDir: string;
  /** Server settings over ours, such as `{ max_connections: "300" }`. No effect on a server that already runs. */
  settings?: Settings;
  /** Told what is going on once a step takes longer than a second. */
  onProgress?: OnProgress | undefined;
}

export interface EmbeddedPostgres {
  /** For `new pg.Pool(connection)`. */
  connection: { host: string; port: number; user: string; database: string };
  /** The same as a URL. */
  connectionString: string;
  /** End your own connections first: when this was the last user the server stops. May be called twice. */
  close(): Promise<void>;
}

export async function openEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const installed = findInstalledBinaries();
  const home = prepareHome(options.dataDir);
  return withProgress("Waiting for the embedded PostgreSQL", options.onProgress, () =>
    withLock(home.lock, async () => {
      checkVersion(home, installed.majorVersion);
      const postmaster = (await findPostmaster(home)) ?? (await startServer(home, installed, options));
      return handle(home, postmaster, registerUser(home.users));
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

function handle(home: Home, postmaster: Postmaster, user: User): EmbeddedPostgres {
  let closing: Promise<void> | undefined;
  return {
    ...connectionTo(postmaster),
    close() {
      closing ??= leave(home, postmaster, user);
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

async function leave(home: Home, opened: Postmaster, user: User): Promise<void> {
  // Someone deleted the data directory under the running server: nothing to keep and nobody to ask.
  if (!existsSync(home.users)) return stopPostmaster(opened, home);
  await withLock(home.lock, async () => {
    if (!user.leave().wasLast) return;
    // Not the one we opened if that one was killed and another process started it again.
    const running = await findPostmaster(home);
    if (running) await stopPostmaster(running, home);
  });
}

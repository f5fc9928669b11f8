// The folder of an embedded server, and its owner.
//
//   <dataDir>/postgres/          the home: mode 0700, owned by the account PostgreSQL runs under
//     data/                      the database cluster
//     socket/                    the Unix socket (elsewhere if the path would be too long)
//     users/                     one file per user of the server
//     lock                       held while the server is started or stopped
//     log/                       PostgreSQL's log, one file per weekday
//     binaries-<version>/        only if those in node_modules cannot be used in place
//
// If root starts it in a folder that only root may enter, such as /root/project, the home is under /var/lib/posthorn and
// <dataDir>/postgres is a link to it.
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type Account, canEnter, chooseAccount, nearestExisting } from "./account.ts";
import { EmbeddedPostgresError, hasCode, useOwnDatabase } from "./error.ts";

export interface Home {
  dir: string;
  cluster: string;
  users: string;
  log: string;
  lock: string;
  /** The account that PostgreSQL runs under. Null for the current user. */
  account: Account | null;
}

const homesOfRoot = "/var/lib/posthorn";

export function prepareHome(dataDir: string): Home {
  const requested = resolve(dataDir);
  try {
    const account = chooseAccount(requested);
    // The data directory also holds keys, so it belongs to the owner of its parent folder.
    createFolder(requested, account && ownerOf(nearestExisting(requested)), 0o755);
    return layOut(placeHome(realpathSync(requested), account), account);
  } catch (error) {
    throw explain(error, requested);
  }
}

function placeHome(dataDir: string, account: Account | null): string {
  const home = join(dataDir, "postgres");
  if (isLink(home) && !existsSync(home)) throw danglingHome(home);
  if (existsSync(home)) return realpathSync(home);
  if (!canEnter(account, dataDir)) return homeElsewhere(home, account);
  createFolder(home, account, 0o700);
  return home;
}

/** Two processes may get here at once: the first link wins. */
function homeElsewhere(link: string, account: Account | null): string {
  createFolder(homesOfRoot, null, 0o711);
  const elsewhere = join(homesOfRoot, randomBytes(8).toString("hex"));
  createFolder(elsewhere, account, 0o700);
  try {
    symlinkSync(elsewhere, link);
    return elsewhere;
  } catch (error) {
    rmSync(elsewhere, { recursive: true });
    if (!hasCode(error, "EEXIST")) throw error;
    return realpathSync(link);
  }
}

function layOut(dir: string, chosen: Account | null): Home {
  const cluster = join(dir, "data");
  const account = chosen && existsSync(cluster) ? ownerOf(cluster) : chosen;
  changeOwner(account, dir);
  const home = {
    dir,
    cluster,
    users: join(dir, "users"),
    log: join(dir, "log"),
    lock: join(dir, "lock"),
    account,
  };
  createFolder(home.users, account, 0o700);
  createFolder(home.log, account, 0o700);
  return home;
}

/** Creates a folder and its parents, owned by the account. */
export function createFolder(path: string, account: Account | null, mode: number): void {
  if (existsSync(path)) return;
  const stopAt = nearestExisting(path);
  mkdirSync(path, { recursive: true, mode });
  for (let made = path; made !== stopAt; made = dirname(made)) changeOwner(account, made);
  chmodSync(path, mode);
}

export function changeOwner(account: Account | null, path: string): void {
  if (account === null) return;
  const { uid } = statSync(path);
  if (uid !== account.uid) chownSync(path, account.uid, account.gid);
}

function ownerOf(path: string): Account {
  const { uid, gid } = statSync(path);
  return { uid, gid };
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}

function danglingHome(home: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    "data_directory_unusable",
    `${home} is a link to a folder that does not exist. Restore that folder, or remove the link to start with an ` +
      `empty database.`,
  );
}

function explain(error: unknown, dataDir: string): unknown {
  if (!hasCode(error, "EACCES", "EPERM", "EROFS", "ENOTDIR", "EEXIST", "ENOSPC")) return error;
  return new EmbeddedPostgresError(
    "data_directory_unusable",
    `The data directory ${dataDir} cannot be used by this user: ${(error as Error).message}. ` +
      `If root created it, start as root again. Otherwise fix its owner, or set POSTHORN_DATA_DIR to a writable ` +
      `directory. ${useOwnDatabase}`,
    { cause: error },
  );
}

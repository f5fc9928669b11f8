// Where everything of one embedded server lies, and who owns it.
//
//   <dataDir>/postgres/          the home: mode 0700, owned by the account PostgreSQL runs under
//     data/                      the database cluster
//     socket/                    the Unix socket (elsewhere when the path would be too long)
//     users/  lock               who uses the server; who may start or stop it
//     log/                       PostgreSQL's log, one file a weekday
//     binaries-<version>/        only when those in node_modules cannot be used as they are
//
// Started by root in a place only root may enter, such as /root/project, the home lies under /var/lib/posthorn and
// <dataDir>/postgres is a link to it: whoever deletes or moves the data directory finds what they expect.
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
  /** The account PostgreSQL runs under; null is our own. */
  account: Account | null;
}

const homesOfRoot = "/var/lib/posthorn";

export function prepareHome(dataDir: string): Home {
  const requested = resolve(dataDir);
  try {
    const account = chooseAccount(requested);
    // The data directory itself stays with the owner of the folder around it: it also holds keys.
    makeFolder(requested, account && ownerOf(nearestExisting(requested)), 0o755);
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
  makeFolder(home, account, 0o700);
  return home;
}

/** Two starters may both get here: the one whose link was made first has chosen for both. */
function homeElsewhere(link: string, account: Account | null): string {
  makeFolder(homesOfRoot, null, 0o711);
  const elsewhere = join(homesOfRoot, randomBytes(8).toString("hex"));
  makeFolder(elsewhere, account, 0o700);
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
  giveTo(account, dir);
  const home = {
    dir,
    cluster,
    users: join(dir, "users"),
    log: join(dir, "log"),
    lock: join(dir, "lock"),
    account,
  };
  makeFolder(home.users, account, 0o700);
  makeFolder(home.log, account, 0o700);
  return home;
}

/** Also gives the account the parents that had to be made. */
export function makeFolder(path: string, account: Account | null, mode: number): void {
  if (existsSync(path)) return;
  const stopAt = nearestExisting(path);
  mkdirSync(path, { recursive: true, mode });
  for (let made = path; made !== stopAt; made = dirname(made)) giveTo(account, made);
  chmodSync(path, mode);
}

export function giveTo(account: Account | null, path: string): void {
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
    `${home} is a link to a folder that is gone. Bring that folder back, or remove the link to begin with an ` +
      `empty database.`,
  );
}

function explain(error: unknown, dataDir: string): unknown {
  if (!hasCode(error, "EACCES", "EPERM", "EROFS", "ENOTDIR", "EEXIST", "ENOSPC")) return error;
  return new EmbeddedPostgresError(
    "data_directory_unusable",
    `The data directory ${dataDir} cannot be used by this user: ${(error as Error).message}. ` +
      `If it was made by root, start as root again; else fix its owner or set POSTHORN_DATA_DIR to a directory ` +
      `you may write to. ${useOwnDatabase}`,
    { cause: error },
  );
}

// Creates the folder of the Unix socket. Its mode 0700 protects the database from other users.
import { chmodSync, lstatSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { canEnter } from "./account.ts";
import { changeOwner, createFolder, type Home } from "./home.ts";

export const port = 5432; // only used in the name of the socket

/** sun_path has 108 bytes on Linux and 104 on macOS, including the terminating zero. */
const maxSocketPathBytes = 103;
const temporaryPrefix = "posthorn-socket-";

/**
 * Creates the folder in the home. If that path is too long, uses a folder with a random name under the temporary folder:
 * that of the previous server if it was killed, so that its clients can reconnect, or a new one.
 */
export function createSocketFolder(home: Home, previous: string | null = null): string {
  const inHome = join(home.dir, "socket");
  if (fits(inHome)) {
    createFolder(inHome, home.account, 0o700);
    return inHome;
  }
  if (previous !== null && isOwned(previous, home)) return previous;
  const parent = [tmpdir(), "/tmp"].find(
    (path) => fits(join(path, `${temporaryPrefix}123456`)) && canEnter(home.account, path),
  );
  const folder = mkdtempSync(join(parent ?? "/tmp", temporaryPrefix));
  changeOwner(home.account, folder);
  chmodSync(folder, 0o700);
  return folder;
}

export function isTemporarySocketFolder(path: string): boolean {
  return basename(path).startsWith(temporaryPrefix);
}

/** Checks owner and mode, because any user may create folders under the temporary one. */
function isOwned(folder: string, { account }: Home): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (!found?.isDirectory() || !isTemporarySocketFolder(folder)) return false;
  return found.uid === (account?.uid ?? process.getuid?.()) && (found.mode & 0o777) === 0o700;
}

function fits(folder: string): boolean {
  return Buffer.byteLength(join(folder, `.s.PGSQL.${port}`)) <= maxSocketPathBytes;
}

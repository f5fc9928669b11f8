// The folder of the Unix socket. Its mode 0700 is what keeps other users out of the database.
import { chmodSync, lstatSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { canEnter } from "./account.ts";
import { giveTo, type Home, makeFolder } from "./home.ts";

export const port = 5432; // only part of the socket's name

/** sun_path holds 108 bytes on Linux and 104 on macOS, with the closing zero. */
const longestSocketPath = 103;
const temporaryPrefix = "posthorn-socket-";

/**
 * In the home, or when that path is too long a folder with an unguessable name under the temporary one: the one of the
 * server before, which was killed, so that who was connected to that one finds this one; else a fresh one.
 */
export function makeSocketFolder(home: Home, before: string | null = null): string {
  const inHome = join(home.dir, "socket");
  if (fits(inHome)) {
    makeFolder(inHome, home.account, 0o700);
    return inHome;
  }
  if (before !== null && isOurs(before, home)) return before;
  const parent = [tmpdir(), "/tmp"].find(
    (path) => fits(join(path, `${temporaryPrefix}123456`)) && canEnter(home.account, path),
  );
  const folder = mkdtempSync(join(parent ?? "/tmp", temporaryPrefix));
  giveTo(home.account, folder);
  chmodSync(folder, 0o700);
  return folder;
}

export function isTemporarySocketFolder(path: string): boolean {
  return basename(path).startsWith(temporaryPrefix);
}

/** Everyone may make folders under the temporary one: what lies there now may be somebody else's. */
function isOurs(folder: string, { account }: Home): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (!found?.isDirectory() || !isTemporarySocketFolder(folder)) return false;
  return found.uid === (account?.uid ?? process.getuid?.()) && (found.mode & 0o777) === 0o700;
}

function fits(folder: string): boolean {
  return Buffer.byteLength(join(folder, `.s.PGSQL.${port}`)) <= longestSocketPath;
}

// Where a PostgreSQL of the tests keeps its data: in memory where there is room, else among the temporary files. A
// database is hundreds of files, and ext4 does not use the inode of a deleted one again for some seconds: to search for
// others took half of the processor time of all tests.
import { chmodSync, existsSync, mkdtempSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const memory = "/dev/shm";
/** All servers of a run together have not needed a quarter of it. */
const roomBytes = 4 * 2 ** 30;

export const postgresFolders = hasRoom() ? memory : tmpdir();

export function makePostgresFolder(prefix: string, parent: string = postgresFolders): string {
  const folder = mkdtempSync(join(parent, prefix));
  chmodSync(folder, 0o755); // run by root, PostgreSQL runs under another account, which has to get in here
  return folder;
}

function hasRoom(): boolean {
  if (!existsSync(memory)) return false;
  const { bavail, bsize } = statfsSync(memory);
  return Math.min(bavail * bsize, process.availableMemory()) >= roomBytes;
}

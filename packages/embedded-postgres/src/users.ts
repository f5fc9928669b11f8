// Who uses the server of a data directory: one file each, so that the last one knows it is the last. Read and written
// only under the lock. Files of dead processes do not count and are swept away.
import { randomBytes } from "node:crypto";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isAlive, ownIdentity } from "./process-identity.ts";

export interface User {
  /** Removes this user; tells whether it was the last one. */
  leave(): { wasLast: boolean };
}

/** One process may be several users: each call counts. */
export function registerUser(usersDir: string): User {
  const file = join(usersDir, `${ownIdentity()}+${randomBytes(6).toString("hex")}`);
  writeFileSync(file, "");
  return {
    leave() {
      rmSync(file, { force: true });
      return { wasLast: countUsers(usersDir) === 0 };
    },
  };
}

function countUsers(usersDir: string): number {
  let alive = 0;
  for (const name of readdirSync(usersDir)) {
    const identity = name.slice(0, name.lastIndexOf("+"));
    if (isAlive(identity)) alive += 1;
    else rmSync(join(usersDir, name), { force: true });
  }
  return alive;
}

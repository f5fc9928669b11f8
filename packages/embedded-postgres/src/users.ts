// Registers the users of a server, one file each, so that the last one can stop it. Called only with the lock held. Files
// of dead processes are deleted.
import { randomBytes } from "node:crypto";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isAlive, ownIdentity } from "./process-identity.ts";

export interface User {
  /** Removes this user, and returns whether it was the last one. */
  remove(): { wasLast: boolean };
}

/** Registers a user. One process may have several. */
export function registerUser(usersDir: string): User {
  const file = join(usersDir, `${ownIdentity()}+${randomBytes(6).toString("hex")}`);
  writeFileSync(file, "");
  return {
    remove() {
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

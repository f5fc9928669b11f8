// Chooses the account that PostgreSQL runs under, because it refuses to run as root. The account must have access to the
// data and the binaries.
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";

export interface Account {
  uid: number;
  gid: number;
}

/** The usual ids of `nobody` on Linux. The account needs no home folder and no shell. */
const nobody: Account = { uid: 65534, gid: 65534 };

/**
 * Returns the account that PostgreSQL runs under, or null for the current user. For root it is the owner of the data
 * directory or its nearest existing parent, so that a user's files stay theirs under sudo; otherwise `nobody`. Owners
 * without a name, which are common in containers, are skipped because initdb fails for them.
 */
export function chooseAccount(dataDir: string): Account | null {
  if (process.getuid?.() !== 0) return null;
  const owner = statSync(nearestExisting(dataDir));
  const named = accountNames();
  if (owner.uid !== 0 && named.has(owner.uid)) return { uid: owner.uid, gid: owner.gid };
  return named.get("nobody") ?? nobody;
}

/** Returns whether the account may enter the folder and all its parents. Checks mode bits, not access control lists. */
export function canEnter(account: Account | null, folder: string): boolean {
  if (account === null) return true;
  for (let path = folder; ; path = dirname(path)) {
    if (!permits(account, path, 0o1)) return false;
    if (path === dirname(path)) return true;
  }
}

export function canRead(account: Account | null, file: string): boolean {
  return account === null || (canEnter(account, dirname(file)) && permits(account, file, 0o4));
}

export function canExecute(account: Account | null, file: string): boolean {
  return account === null || (canEnter(account, dirname(file)) && permits(account, file, 0o5));
}

export function nearestExisting(path: string): string {
  return existsSync(path) ? path : nearestExisting(dirname(path));
}

function permits(account: Account, path: string, wanted: number): boolean {
  const { mode, uid, gid } = statSync(path);
  const shift = uid === account.uid ? 6 : gid === account.gid ? 3 : 0;
  return ((mode >> shift) & wanted) === wanted;
}

/** Returns the accounts of /etc/passwd by number, and `nobody` also by name, because its number differs on macOS. */
function accountNames(): Map<number | "nobody", Account> {
  const accounts = new Map<number | "nobody", Account>();
  if (!existsSync("/etc/passwd")) return accounts;
  for (const line of readFileSync("/etc/passwd", "utf8").split("\n")) {
    const [name, , uid, gid] = line.split(":");
    if (uid === undefined || gid === undefined) continue;
    // macOS lists nobody as -2, which the kernel reads as an unsigned number.
    const account = { uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 };
    accounts.set(account.uid, account);
    if (name === "nobody") accounts.set("nobody", account);
  }
  return accounts;
}

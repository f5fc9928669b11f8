// PostgreSQL refuses to run as root. Started by root, it runs under another account, and that account must be able to
// reach the data and the binaries.
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";

export interface Account {
  uid: number;
  gid: number;
}

/** `nobody` on every Linux in use; the account needs no home, no shell and no set-up. */
const nobody: Account = { uid: 65534, gid: 65534 };

/**
 * The account PostgreSQL runs under, or null for our own. As root: the owner of the place the data goes to (a user's
 * clone started with sudo stays that user's), else `nobody`. initdb looks its account up by number and fails for a
 * number without a name, which is common in containers: such an owner is passed over.
 */
export function chooseAccount(dataDir: string): Account | null {
  if (process.getuid?.() !== 0) return null;
  const owner = statSync(nearestExisting(dataDir));
  const named = accountNames();
  if (owner.uid !== 0 && named.has(owner.uid)) return { uid: owner.uid, gid: owner.gid };
  return named.get("nobody") ?? nobody;
}

/** Whether the account may enter every folder down to this one. Looks at mode bits, so not at access lists. */
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

/** The accounts of /etc/passwd, by number; `nobody` also by name, because its number differs on macOS. */
function accountNames(): Map<number | "nobody", Account> {
  const accounts = new Map<number | "nobody", Account>();
  if (!existsSync("/etc/passwd")) return accounts;
  for (const line of readFileSync("/etc/passwd", "utf8").split("\n")) {
    const [name, , uid, gid] = line.split(":");
    if (uid === undefined || gid === undefined) continue;
    // macOS writes nobody as -2, which the kernel reads as an unsigned number.
    const account = { uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 };
    accounts.set(account.uid, account);
    if (name === "nobody") accounts.set("nobody", account);
  }
  return accounts;
}

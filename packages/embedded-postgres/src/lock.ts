// One process at a time may create, start or stop the server of a data directory.
//
// The lock is a symbolic link whose target names its owner: making a link is atomic and carries the name with it, so
// there is no moment in which the lock exists but its owner is unknown. A dead owner's lock is broken by whoever waits.
import { lstatSync, readlinkSync, symlinkSync, unlinkSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { EmbeddedPostgresError, hasCode } from "./error.ts";
import { isAlive, ownIdentity, type ProcessIdentity, pidOf } from "./process-identity.ts";

const pollMs = 20;
const patienceMs = 10 * 60_000;
/** Breaking takes microseconds and never waits, so a mark of this age belongs to a process that died within them. */
const abandonedBreakMs = 10_000;

export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const me = ownIdentity();
  await acquire(path, me);
  try {
    return await work();
  } finally {
    removeIfOwnedBy(path, me);
  }
}

async function acquire(path: string, me: ProcessIdentity): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!tryLink(me, path)) {
    const owner = readOwner(path);
    if (owner === null) continue;
    if (!isAlive(owner)) {
      breakLock(path, owner);
    } else if (performance.now() > deadline) {
      throw new EmbeddedPostgresError(
        "lock_timeout",
        `Process ${pidOf(owner)} has been starting or stopping the embedded PostgreSQL for ` +
          `${patienceMs / 60_000} minutes. End that process, then start again.`,
      );
    }
    await delay(pollMs);
  }
}

/**
 * Two processes may see the same dead owner. Without a second lock the slower one would remove the fresh lock of the
 * faster one; with it the owner is read again where nobody else may break.
 */
function breakLock(path: string, deadOwner: ProcessIdentity): void {
  const mark = `${path}.breaking`;
  if (!tryLink(ownIdentity(), mark)) {
    if (ageMs(mark) > abandonedBreakMs) removeIfExists(mark);
    return;
  }
  try {
    removeIfOwnedBy(path, deadOwner);
  } finally {
    removeIfExists(mark);
  }
}

function tryLink(target: string, path: string): boolean {
  try {
    symlinkSync(target, path);
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw error;
  }
}

function readOwner(path: string): ProcessIdentity | null {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return null;
    throw error;
  }
}

function removeIfOwnedBy(path: string, owner: ProcessIdentity): void {
  if (readOwner(path) === owner) removeIfExists(path);
}

function removeIfExists(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (!hasCode(error, "ENOENT")) throw error;
  }
}

function ageMs(path: string): number {
  try {
    return Date.now() - lstatSync(path).mtimeMs;
  } catch {
    return 0;
  }
}

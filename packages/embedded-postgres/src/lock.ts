// One process at a time may create, start or stop the server of a data directory.
//
// The lock is a symbolic link whose target names its owner. Creating a link is atomic, so the owner of an existing lock is
// always known. A waiting process breaks the lock of a dead owner.
import { lstatSync, readlinkSync, symlinkSync, unlinkSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { EmbeddedPostgresError, hasCode } from "./error.ts";
import { isAlive, ownIdentity, type ProcessIdentity, pidOf } from "./process-identity.ts";

const pollMs = 20;
const timeoutMs = 10 * 60_000;
/** Breaking a lock takes microseconds, so a mark of this age belongs to a process that died. */
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
  const deadline = performance.now() + timeoutMs;
  while (!tryLink(me, path)) {
    const owner = readOwner(path);
    if (owner === null) continue;
    if (!isAlive(owner)) {
      breakLock(path, owner);
    } else if (performance.now() > deadline) {
      throw new EmbeddedPostgresError(
        "lock_timeout",
        `Process ${pidOf(owner)} has been starting or stopping the embedded PostgreSQL for ` +
          `${timeoutMs / 60_000} minutes. Stop that process, then start again.`,
      );
    }
    await delay(pollMs);
  }
}

/**
 * Removes the lock of a dead owner. Two processes may do so at once, so a second lock guards it: otherwise the slower
 * one would remove the new lock of the faster one.
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

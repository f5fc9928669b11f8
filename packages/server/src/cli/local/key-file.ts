// A generated key in a file that only its owner may read. Processes that start at the same time use the same key.
import { chmodSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { failed } from "../failure.ts";

export interface KeyFile {
  readonly content: string;
  /** True if this call created the file. */
  readonly isNew: boolean;
}

export function readOrCreateKeyFile(path: string, create: () => string): KeyFile {
  try {
    return readIfThere(path) ?? createFile(path, create());
  } catch (error) {
    throw explain(error, path);
  }
}

/** Returns null if the file does not exist. */
export function readKeyFile(path: string): KeyFile | null {
  try {
    return readIfThere(path);
  } catch (error) {
    throw explain(error, path);
  }
}

function readIfThere(path: string): KeyFile | null {
  try {
    return { content: readFileSync(path, "utf8").trim(), isNew: false };
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return null;
    throw error;
  }
}

/** Writes a temporary file and links it, so that no process reads a partial key and the first one wins. */
function createFile(path: string, content: string): KeyFile {
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${content}\n`, { mode: 0o600 });
  chmodSync(draft, 0o600);
  try {
    linkSync(draft, path);
    return { content, isNew: true };
  } catch (error) {
    const other = (error as { code?: string }).code === "EEXIST" ? readIfThere(path) : null;
    if (other) return other;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function explain(error: unknown, path: string): unknown {
  const { code = "", message } = error as { code?: string; message?: string };
  if (!/^(EACCES|EPERM|EROFS|ENOSPC|EDQUOT|ENOTDIR|EISDIR|EEXIST)$/.test(code)) return error;
  return failed(
    `The key file ${resolve(path)} cannot be read or written by this user (${message}). Make this user the owner of ` +
      "the data directory and its files, or set POSTHORN_DATA_DIR to a writable folder.",
    { cause: error },
  );
}

// A generated key in a file only its owner may read. Two processes that start at once agree on one key.
import { chmodSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

export interface KeyFile {
  readonly content: string;
  /** Made just now, by us. */
  readonly isNew: boolean;
}

/** The file cannot be read or made; the message says what to do about it. */
export class KeyFileError extends Error {
  override readonly name = "KeyFileError";
}

export function readOrCreateKeyFile(path: string, make: () => string): KeyFile {
  try {
    return readIfThere(path) ?? create(path, make());
  } catch (error) {
    throw explain(error, path);
  }
}

/** Null: there is none. */
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

/** Written whole under another name, then linked: nobody ever reads half a key, and the first one wins. */
function create(path: string, content: string): KeyFile {
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
  return new KeyFileError(
    `The key file ${resolve(path)} cannot be read or written by this user (${message}). Give this user the data ` +
      "directory and what is in it, or set POSTHORN_DATA_DIR to a folder it may write to.",
    { cause: error },
  );
}

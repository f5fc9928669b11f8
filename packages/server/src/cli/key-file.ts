// A generated key in a file only its owner may read. Two processes that start at once agree on one key.
import { chmodSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

export interface KeyFile {
  readonly content: string;
  /** Made just now, by us. */
  readonly isNew: boolean;
}

export function readOrCreateKeyFile(path: string, make: () => string): KeyFile {
  return readIfThere(path) ?? create(path, make());
}

export function readKeyFile(path: string): string | null {
  return readIfThere(path)?.content ?? null;
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

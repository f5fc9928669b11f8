// Reads and caches the built files of the dashboard. Names have one segment and a known extension, so no path leads out of
// the folder.
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PACKAGE_FOLDER } from "../version.ts";

export const STATIC_FOLDER = fileURLToPath(new URL("static", PACKAGE_FOLDER));

const CONTENT_TYPES: Readonly<Record<string, string | undefined>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  png: "image/png",
  webp: "image/webp",
  ico: "image/x-icon",
  woff2: "font/woff2",
  json: "application/json",
  txt: "text/plain; charset=utf-8",
};

/** Returns the content type of an asset, or null for an unknown extension. */
export function contentTypeOf(name: string): string | null {
  const [, ending = ""] = /^[A-Za-z0-9_][A-Za-z0-9_.-]*\.([a-z0-9]+)$/.exec(name) ?? [];
  return CONTENT_TYPES[ending] ?? null;
}

export type Encoding = "br" | "gzip";
/** Smallest first. */
const ENCODINGS: readonly [Encoding, suffix: string][] = [
  ["br", ".br"],
  ["gzip", ".gz"],
];

export interface Asset {
  readonly bytes: Buffer;
  /** Null if it is not compressed. */
  readonly encoding: Encoding | null;
}

export class StaticFiles {
  readonly #folder: string;
  readonly #known = new Map<string, { readonly bytes: Buffer; readonly mtimeMs: number }>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Returns a compressed file if there is one and the browser accepts it. `name` must have a known extension. */
  async asset(name: string, accepted: string): Promise<Asset | null> {
    for (const [encoding, suffix] of ENCODINGS) {
      const bytes = accepts(accepted, encoding) ? await this.read(`assets/${name}${suffix}`) : null;
      if (bytes !== null) return { bytes, encoding };
    }
    const bytes = await this.read(`assets/${name}`);
    return bytes === null ? null : { bytes, encoding: null };
  }

  /** Returns the file, cached until it changes; null if it does not exist. */
  async read(name: string): Promise<Buffer | null> {
    const path = join(this.#folder, name);
    const found = await stat(path).catch(() => null);
    if (!found?.isFile()) return null;
    const known = this.#known.get(name);
    if (known?.mtimeMs === found.mtimeMs) return known.bytes;
    const bytes = await readFile(path);
    this.#known.set(name, { bytes, mtimeMs: found.mtimeMs });
    return bytes;
  }
}

function accepts(header: string, encoding: Encoding): boolean {
  return header.split(",").some((part) => {
    const [name = "", quality = ""] = part.split(";").map((piece) => piece.trim().toLowerCase());
    return name === encoding && !/^q=0(?:\.0*)?$/.test(quality);
  });
}

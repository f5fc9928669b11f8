// The built files of the dashboard, read when they are first asked for. Names are of one segment and of known kinds, so
// no path leads out of their folder.
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Beside `src` and `dist` alike. */
export const STATIC_FOLDER = fileURLToPath(new URL("../../static", import.meta.url));

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

/** What an asset of this name is; null: there are none of that kind. */
export function contentTypeOf(name: string): string | null {
  const [, ending = ""] = /^[A-Za-z0-9_][A-Za-z0-9_.-]*\.([a-z0-9]+)$/.exec(name) ?? [];
  return CONTENT_TYPES[ending] ?? null;
}

export type Encoding = "br" | "gzip";
/** The smallest first. */
const ENCODINGS: readonly [Encoding, suffix: string][] = [
  ["br", ".br"],
  ["gzip", ".gz"],
];

export interface Asset {
  readonly bytes: Buffer;
  /** Null: as it is. */
  readonly encoding: Encoding | null;
}

export class StaticFiles {
  readonly #folder: string;
  readonly #known = new Map<string, { readonly bytes: Buffer; readonly mtimeMs: number }>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Compressed, where the build left such a file beside it and the browser takes it. `name` is one of a known kind. */
  async asset(name: string, accepted: string): Promise<Asset | null> {
    for (const [encoding, suffix] of ENCODINGS) {
      const bytes = accepts(accepted, encoding) ? await this.read(`assets/${name}${suffix}`) : null;
      if (bytes !== null) return { bytes, encoding };
    }
    const bytes = await this.read(`assets/${name}`);
    return bytes === null ? null : { bytes, encoding: null };
  }

  /** From memory until the file changes; null when there is none. */
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

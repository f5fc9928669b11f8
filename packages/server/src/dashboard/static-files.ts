// The built files of the dashboard, read when they are first asked for. Names are of one segment and of known kinds, so
// no path leads out of their folder.
import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Beside `src` and `dist` alike. */
export const STATIC_FOLDER = fileURLToPath(new URL("../../static", import.meta.url));

export interface StaticFile {
  readonly bytes: Buffer;
  readonly etag: string;
}

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

/** Of what is compressed already nobody wants another layer. */
export type Encoding = "br" | "gzip";
const SUFFIXES: Readonly<Record<Encoding, string>> = { br: ".br", gzip: ".gz" };

export class StaticFiles {
  readonly #folder: string;
  readonly #read = new Map<string, StaticFile & { readonly mtimeMs: number }>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The best of what lies beside it and the browser takes. */
  async asset(
    name: string,
    accepted: string,
  ): Promise<{ readonly file: StaticFile; readonly encoding: Encoding | null } | null> {
    for (const encoding of ["br", "gzip"] as const) {
      const file = accepts(accepted, encoding)
        ? await this.file(`assets/${name}${SUFFIXES[encoding]}`)
        : null;
      if (file !== null) return { file, encoding };
    }
    const file = await this.file(`assets/${name}`);
    return file === null ? null : { file, encoding: null };
  }

  /** Kept in memory until it changes; null when there is none. */
  async file(name: string): Promise<StaticFile | null> {
    const path = join(this.#folder, name);
    const found = await stat(path).catch(() => null);
    if (!found?.isFile()) return null;
    const known = this.#read.get(name);
    if (known?.mtimeMs === found.mtimeMs) return known;
    const bytes = await readFile(path);
    const file = { bytes, etag: etagOf(bytes), mtimeMs: found.mtimeMs };
    this.#read.set(name, file);
    return file;
  }
}

export function etagOf(content: Buffer | string): string {
  return `"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"`;
}

function accepts(header: string, encoding: Encoding): boolean {
  return header.split(",").some((part) => {
    const [name = "", quality = ""] = part.split(";").map((piece) => piece.trim().toLowerCase());
    return name === encoding && !/^q=0(?:\.0*)?$/.test(quality);
  });
}

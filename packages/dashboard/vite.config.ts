// Builds dashboard and portal into the server's static folder. The path at which the server is mounted is known only at
// run time, so all URLs are relative to the page's <base>.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, gzip as gzipCompress } from "node:zlib";
import { contract } from "@posthorn/client";
import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import subsetFont from "subset-font";
import { defineConfig, type Plugin } from "vite";

const brotli = promisify(brotliCompress);
const gzip = promisify<Buffer, { level: number }, Buffer>(gzipCompress);
const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** React, the router and the queries. */
const LIBRARIES =
  /node_modules\/(react|react-dom|scheduler|use-sync-external-store|@tanstack\/(history|(react-)?(router|query|store)(-core)?))\//;
const TYPEFACES = ["inter", "jetbrains-mono"];
const COMPRESSED = /^assets\/.+\.(js|css|svg)$/;

export default defineConfig({
  root: at("."),
  base: "./",
  logLevel: "warn",
  plugins: [operations(), react(), tailwind(), smallFonts(), compressed()],
  resolve: { conditions: ["posthorn-source", "module", "browser", "development|production"] },
  build: {
    outDir: at("../server/static"),
    emptyOutDir: true,
    target: "es2022",
    // the first versions with light-dark()
    cssTarget: ["chrome123", "safari17.5", "firefox120"],
    // the CSP allows data: URLs for images only
    assetsInlineLimit: 0,
    rolldownOptions: {
      // on a slow machine it would print a warning about the plugins
      checks: { pluginTimings: false },
      input: [at("index.html"), at("portal.html"), at("docs.html")],
      output: {
        // few files for what most screens need, because a browser loads six at a time from a host
        codeSplitting: {
          groups: [
            { name: "base", test: LIBRARIES },
            { name: "common", test: /dashboard\/src\//, minShareCount: 8 },
          ],
        },
      },
    },
  },
});

/**
 * Keeps the letters, weights and features of the latin typefaces that the pages use: 37 KB instead of 89. Their licences go
 * with them.
 */
function smallFonts(): Plugin {
  return {
    name: "posthorn-small-fonts",
    async generateBundle(_, bundle) {
      const licences = TYPEFACES.map((name) =>
        readFile(at(`../../node_modules/@fontsource-variable/${name}/LICENSE`)),
      );
      const source = Buffer.concat(await Promise.all(licences));
      this.emitFile({ type: "asset", fileName: "typeface-licenses.txt", source });
      const css = await readFile(at("src/design/fonts.css"), "utf8");
      const fonts = Object.values(bundle).filter(
        (file) => file.type === "asset" && /-latin-wght-/.test(file.fileName),
      );
      for (const font of fonts as { fileName: string; source: Uint8Array }[]) {
        const name = font.fileName.replace(/^assets\/(.+-normal)-.+$/, "$1");
        font.source = await subsetFont(Buffer.from(font.source), lettersOf(css, name), {
          targetFormat: "woff2",
          variationAxes: { wght: { min: 400, max: 600 } },
          keepFeatures: ["kern", "mark", "ccmp", "tnum", "cv05", "cv08", "ss03"],
          noHinting: true,
        });
      }
    },
  };
}

/** The letters of the typeface's unicode-range. */
function lettersOf(css: string, name: string): string {
  const [, ranges = ""] = new RegExp(`${name}[^}]*unicode-range:([^;]*);`).exec(css) ?? [];
  return ranges
    .split(",")
    .flatMap((range) => {
      const [from = 0, to = from] = range
        .trim()
        .slice(2)
        .split("-")
        .map((code) => Number.parseInt(code, 16));
      return Array.from({ length: to - from + 1 }, (_, offset) => String.fromCodePoint(from + offset));
    })
    .join("");
}

/** Writes compressed copies of each file, so that the server need not compress responses. */
function compressed(): Plugin {
  return {
    name: "posthorn-compressed",
    async writeBundle({ dir = "" }, bundle) {
      const names = Object.keys(bundle).filter((name) => COMPRESSED.test(name));
      await Promise.all(
        names.map(async (name) => {
          const path = join(dir, name);
          const bytes = await readFile(path);
          await writeFile(`${path}.br`, await brotli(bytes));
          await writeFile(`${path}.gz`, await gzip(bytes, { level: 9 }));
        }),
      );
    },
  };
}

/** Provides method and path of every operation without the schemas, which would double what a browser loads. */
function operations(): Plugin {
  const id = "virtual:operations";
  return {
    name: "posthorn-operations",
    resolveId: (requested) => (requested === id ? `\0${id}` : undefined),
    load: (requested) =>
      requested === `\0${id}` ? `export const operations = ${JSON.stringify(table())};` : undefined,
  };
}

function isExportOf({ isExport }: { readonly isExport?: true }): object {
  return isExport ? { isExport } : {};
}

function table(): unknown {
  const entries = Object.entries(contract).map(([resource, byName]) => [
    resource,
    Object.fromEntries(
      Object.entries(byName).map(([name, { method, path, response }]) => [
        name,
        { method, path, response: response.schema === null ? { schema: null } : isExportOf(response) },
      ]),
    ),
  ]);
  return Object.fromEntries(entries);
}

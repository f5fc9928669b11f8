// Builds both pages into the folder that the server carries. Where they will be mounted is known only when they are
// asked for: so every address is relative to the page's <base>.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, gzip as gzipCompress } from "node:zlib";
import { contract } from "@posthorn/client";
import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const brotli = promisify(brotliCompress);
const gzip = promisify<Buffer, { level: number }, Buffer>(gzipCompress);
const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** React, the router and the queries. */
const BASE =
  /node_modules\/(react|react-dom|scheduler|use-sync-external-store|@tanstack\/(history|(react-)?(router|query|store)(-core)?))\//;
const COMPRESSED = /^assets\/.+\.(js|css|svg)$/;

export default defineConfig({
  root: at("."),
  base: "./",
  logLevel: "warn",
  plugins: [operations(), react(), tailwind(), compressed()],
  resolve: { conditions: ["posthorn-source", "module", "browser", "development|production"] },
  build: {
    outDir: at("../server/static"),
    emptyOutDir: true,
    target: "es2022",
    // the CSP allows images from data: URLs and nothing else from there
    assetsInlineLimit: 0,
    rolldownOptions: {
      input: [at("index.html"), at("portal.html")],
      output: {
        // one file in place of many for what every screen needs, and for what most do: a browser asks a host for six at a time
        codeSplitting: {
          groups: [
            { name: "base", test: BASE },
            { name: "common", test: /dashboard\/src\//, minShareCount: 8 },
          ],
        },
      },
    },
  },
});

/** Beside each file its compressed forms, which the server sends as they are: to compress at each request costs more. */
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

/** Method and path of every operation, without the schemas: they would be half of what a browser loads. */
function operations(): Plugin {
  const id = "virtual:operations";
  return {
    name: "posthorn-operations",
    resolveId: (asked) => (asked === id ? `\0${id}` : undefined),
    load: (asked) =>
      asked === `\0${id}` ? `export const operations = ${JSON.stringify(table())};` : undefined,
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

// Builds both pages into the folder that the server carries. Where they will be mounted is known only when they are
// asked for: so every address is relative to the page's <base>.
import { fileURLToPath } from "node:url";
import { contract } from "@posthorn/client";
import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: at("."),
  base: "./",
  logLevel: "warn",
  plugins: [operations(), react(), tailwind()],
  resolve: { conditions: ["posthorn-source", "module", "browser", "development|production"] },
  build: {
    outDir: at("../server/static"),
    emptyOutDir: true,
    target: "es2022",
    // the CSP allows images from data: URLs and nothing else from there
    assetsInlineLimit: 0,
    rolldownOptions: { input: [at("index.html"), at("portal.html")] },
  },
});

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

function table(): unknown {
  const entries = Object.entries(contract).map(([resource, byName]) => [
    resource,
    Object.fromEntries(
      Object.entries(byName).map(([name, { method, path, answer }]) => [
        name,
        { method, path, answer: answer.schema === null ? { schema: null } : {} },
      ]),
    ),
  ]);
  return Object.fromEntries(entries);
}

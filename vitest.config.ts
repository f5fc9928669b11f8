// Packages resolve to their sources here (the posthorn-source condition), so no build is needed to test.
// `npm test` leaves out the slow files; `npm run test:all` and Vitest itself run all of them.
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { isQuick } from "./tests/support/matrix.ts";

const slow = "**/*.slow.test.ts";
const never = ["**/node_modules/**", "**/dist/**", ...(isQuick ? [slow] : [])];

const at = (name: string) => fileURLToPath(new URL(`./tests/component/${name}`, import.meta.url));

export default defineConfig({
  // without "module": that is for bundlers, and Node, which runs the tests, cannot load what some packages have there
  ssr: { resolve: { conditions: ["posthorn-source", "node", "development|production"] } },
  test: {
    // as in tests/support/eventually.ts: a wait ends when its condition holds, however busy the machine is
    expect: { poll: { timeout: 20_000 } },
    // one more than processors: many wait for leases, timers and browsers
    maxWorkers: availableParallelism() + 1,
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          isolate: false,
          testTimeout: 20_000,
          include: ["packages/*/src/**/*.test.ts", "tests/unit/**/*.test.ts"],
          exclude: ["**/*.integration.test.ts", slow, ...never],
        },
      },
      {
        extends: true,
        test: {
          name: "integration",
          // loading the sources takes 1.5 s of processor time, so files share a process and leave it as they found it
          isolate: false,
          include: [
            "packages/*/src/**/*.integration.test.ts",
            "packages/*/src/**/*.slow.test.ts",
            "tests/integration/**/*.test.ts",
          ],
          exclude: never,
          globalSetup: "tests/support/database/postgres-setup.ts",
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: "e2e",
          include: ["tests/e2e/**/*.test.ts"],
          exclude: never,
          globalSetup: "tests/e2e/setup.ts",
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        extends: true,
        // the dashboard without a browser; its libraries as a browser loads them
        resolve: {
          alias: { "virtual:operations": at("operations.ts") },
        },
        ssr: { resolve: { conditions: ["posthorn-source", "browser", "development|production"] } },
        test: {
          name: "component",
          include: ["tests/component/**/*.test.tsx"],
          exclude: never,
          setupFiles: "tests/component/dom.ts",
          globalSetup: "tests/support/database/postgres-setup.ts",
          server: { deps: { inline: [/@tanstack\//, /@base-ui\//] } },
          testTimeout: 30_000,
          hookTimeout: 30_000,
        },
      },
      {
        extends: true,
        test: {
          name: "browser",
          // one Chromium for all files of a process
          isolate: false,
          include: ["tests/browser/**/*.test.ts"],
          exclude: never,
          globalSetup: ["tests/e2e/setup.ts", "tests/support/database/postgres-setup.ts"],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        extends: true,
        test: {
          name: "chaos",
          include: ["tests/chaos/**/*.test.ts"],
          exclude: never,
          testTimeout: 180_000,
          // after all others: it takes both processors, and they have clocks to watch
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});

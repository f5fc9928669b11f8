// Packages resolve to their sources here (the posthorn-source condition), so no build is needed to test.
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

const slow = "**/*.integration.test.ts";
/** Say what is so after so much time, and mean it: they run beside nothing else. */
const timed = ["packages/posthorn/src/delivery/lanes.integration.test.ts"];
const nowhere = ["**/node_modules/**", "**/dist/**"];

export default defineConfig({
  // without "module": that is for bundlers, and Node, which runs the tests, cannot load what some packages have there
  ssr: { resolve: { conditions: ["posthorn-source", "node", "development|production"] } },
  test: {
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
          exclude: [slow, ...nowhere],
        },
      },
      {
        extends: true,
        test: {
          name: "integration",
          // to load the sources anew takes 1.5 s of processor time a file; so a file leaves the process as it found it
          isolate: false,
          include: ["packages/*/src/**/*.integration.test.ts", "tests/integration/**/*.test.ts"],
          exclude: [...timed, ...nowhere],
          globalSetup: "tests/support/postgres-setup.ts",
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: "e2e",
          include: ["tests/e2e/**/*.test.ts"],
          exclude: nowhere,
          globalSetup: "tests/e2e/setup.ts",
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        extends: true,
        test: {
          name: "browser",
          // one Chromium for all files of a process
          isolate: false,
          include: ["tests/browser/**/*.test.ts"],
          exclude: nowhere,
          globalSetup: ["tests/e2e/setup.ts", "tests/support/postgres-setup.ts"],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        extends: true,
        test: {
          name: "timed",
          include: timed,
          globalSetup: "tests/support/postgres-setup.ts",
          testTimeout: 60_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: "chaos",
          include: ["tests/chaos/**/*.test.ts"],
          exclude: nowhere,
          testTimeout: 180_000,
          // after all others: it takes both processors, and they have clocks to watch
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});

// npm test runs lint, types and the quick tests; npm run test:all runs lint, types and every test, matrices completely.
// Arguments go to Vitest and run only the tests they select: npm test -- delivery/lanes -t "first in"
// Continues after a failure, so that one run shows all of them. The last line has the counts.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "posthorn-test-run-"));
const report = join(scratch, "report.json");
const isAll = process.argv.includes("--all");
const selection = process.argv.slice(2).filter((argument) => argument !== "--all");

try {
  const isWhole = selection.length === 0;
  const lint = !isWhole || step("Lint", "@biomejs/biome/bin/biome", ["check", "."]);
  const types = !isWhole || step("Types", "typescript/bin/tsc", ["-b"]);
  const tests = step(
    "Tests",
    "vitest/vitest.mjs",
    ["run", "--reporter=default", "--reporter=json", `--outputFile.json=${report}`, ...selection],
    isWhole && !isAll ? { QUICK_TESTS: "1" } : {},
  );
  const counts = countTests();
  // A failure outside any test, such as a type error or a file that does not load, counts as one.
  const outside = [lint, types, tests || counts.failed > 0].filter((ok) => !ok).length;
  const failed = counts.failed + outside;
  process.exitCode = failed === 0 ? 0 : 1;
  console.log(
    `\n${counts.passed} passed, ${failed} failed${counts.skipped ? `, ${counts.skipped} skipped` : ""}`,
  );
} finally {
  rmSync(scratch, { recursive: true });
}

/** Runs the tool with this Node rather than through node_modules/.bin. Returns whether it succeeded. */
function step(title, tool, args, env = {}) {
  console.log(`\n${title} …`);
  const { status } = spawnSync(process.execPath, [join(root, "node_modules", tool), ...args], {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, ...env },
  });
  if (status !== 0) console.log(`${title}: failed`);
  return status === 0;
}

function countTests() {
  try {
    const { numPassedTests, numFailedTests, numPendingTests, numTodoTests } = JSON.parse(
      readFileSync(report, "utf8"),
    );
    return { passed: numPassedTests, failed: numFailedTests, skipped: numPendingTests + numTodoTests };
  } catch {
    return { passed: 0, failed: 0, skipped: 0 };
  }
}

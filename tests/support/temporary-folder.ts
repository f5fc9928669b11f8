import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Creates a folder that is removed at the end of the test. */
export function makeTemporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "posthorn-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

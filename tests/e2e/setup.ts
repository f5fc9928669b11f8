// End-to-end tests run what users run: the packages built into dist.
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

export default function buildPackages(): void {
  const script = fileURLToPath(new URL("../../scripts/build.mjs", import.meta.url));
  execFileSync(process.execPath, [script], { stdio: "inherit" });
}

// npm run bench: builds, then measures the packages from dist (without the posthorn-source condition), as users run them.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { buildOrExit } from "./build.mjs";

buildOrExit();

const child = spawn(process.execPath, ["--import", "tsx", "benchmarks/main.ts", ...process.argv.slice(2)], {
  cwd: fileURLToPath(new URL("..", import.meta.url)),
  stdio: "inherit",
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code) => {
  process.exitCode = code ?? 1;
});

// npm start: builds, then runs the development server in this process, so that signals reach it.
import { fileURLToPath } from "node:url";
import { buildOrExit } from "./build.mjs";

buildOrExit();

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
process.argv.splice(2, 0, "dev");
await import("../packages/server/bin/posthorn.js");

// npm start: builds, then is the development server. The same process, so that signals reach the server itself.
import { fileURLToPath } from "node:url";
import { build } from "./build.mjs";

try {
  build();
} catch (error) {
  console.error(error.message);
  process.exit(1);
}

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
process.argv.splice(2, 0, "dev");
await import("../packages/server/bin/posthorn.js");

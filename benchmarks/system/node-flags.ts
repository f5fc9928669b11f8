// The Node flags of the posthorn command, also used for the ceiling.
import { readFileSync } from "node:fs";

const [shebang = ""] = readFileSync(
  new URL("../../packages/server/bin/posthorn.js", import.meta.url),
  "utf8",
).split("\n");

export const nodeFlags = shebang.split(" ").filter((word) => word.startsWith("--"));

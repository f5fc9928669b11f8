// The folder and the version of this package.
import { readFileSync } from "node:fs";

/** The parent of `src`, of `dist` and of `bundle`, whose files are all in one folder. */
export const PACKAGE_FOLDER = new URL("..", import.meta.url);

const { version } = JSON.parse(readFileSync(new URL("package.json", PACKAGE_FOLDER), "utf8")) as {
  version: string;
};

export const VERSION = version;

// A process that delivers and does nothing else. Its options are the first argument; it prints a line when it has started.
import { createPosthorn } from "posthorn";

const silent = (): void => {};
const logger = { debug: silent, info: silent, warn: silent, error: silent };

const hooks = createPosthorn({ ...JSON.parse(process.argv[2] as string), logger });
await hooks.start({ role: "worker" });
console.log("started");

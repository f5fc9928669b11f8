// A process that delivers and does nothing else. Its options are the first argument; it tells on standard output, one
// JSON array a line, when it is up and whom it buried. SIGTERM drains it.
import { createPosthorn } from "posthorn";

const silent = (): void => {};
const tell = (...what: unknown[]) => process.stdout.write(`${JSON.stringify(what)}\n`);

const hooks = createPosthorn({
  ...JSON.parse(process.argv[2] as string),
  logger: {
    debug: silent,
    info: silent,
    warn: (message, fields) => tell("warn", message, fields),
    error: (message, fields) => tell("error", message, fields),
  },
});
process.on("SIGTERM", () => {
  hooks.stop().then(
    () => process.exit(0),
    () => process.exit(1),
  );
});
await hooks.start({ role: "worker" });
tell("started");

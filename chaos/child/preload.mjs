// Loaded into every process under test before Posthorn's modules. Sets up its clock, DNS and planted bug.
import dns from "node:dns/promises";
import { register } from "node:module";

const { edits, clockSkewMs, names } = JSON.parse(process.env.CHAOS_ENVIRONMENT);
delete process.env.CHAOS_ENVIRONMENT;

// The current error of the wall clock. The monotonic clock is not affected.
let skewMs = clockSkewMs;

// The channel to the parent does not keep the process running; the process exits with its parent.
process.on("message", ({ ask, stepMs }) => {
  if (ask === "memory") process.send?.({ rssBytes: process.memoryUsage.rss() });
  if (ask === "step clock") skewMs += stepMs;
});
process.channel?.unref();
process.on("disconnect", () => process.exit());

// Must run before tsx registers, so that tsx compiles the changed text.
if (edits.length > 0) register("./plant-hooks.mjs", import.meta.url, { data: edits });

const TrueDate = Date;
globalThis.Date = class extends TrueDate {
  constructor(...args) {
    if (args.length === 0) super(TrueDate.now() + skewMs);
    else super(...args);
  }
  static now() {
    return TrueDate.now() + skewMs;
  }
};

// Only these names resolve; no name server is used.
dns.Resolver.prototype.resolve4 = async (hostname) => [names[hostname] ?? unknown(hostname)];
dns.Resolver.prototype.resolve6 = async (hostname) => unknown(hostname);

function unknown(hostname) {
  throw Object.assign(new Error(`queryA ENOTFOUND ${hostname}`), { code: "ENOTFOUND" });
}

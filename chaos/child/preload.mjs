// Loaded into every process under test before the first of Posthorn's modules: the surroundings it is to live in.
import dns from "node:dns/promises";
import { register } from "node:module";

const { edits, clockSkewMs, names } = JSON.parse(process.env.CHAOS_SURROUNDINGS);
delete process.env.CHAOS_SURROUNDINGS;

// How far this machine's clock is off by now. The monotonic clock, as on any machine, knows nothing of it.
let skewMs = clockSkewMs;

// Our channel to the parent keeps nothing running, and whoever is left alone ends.
process.on("message", ({ ask, stepMs }) => {
  if (ask === "memory") process.send?.({ rssBytes: process.memoryUsage.rss() });
  if (ask === "step clock") skewMs += stepMs;
});
process.channel?.unref();
process.on("disconnect", () => process.exit());

// Before tsx registers: it gets the changed text and compiles that.
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

// No name server is ever asked: a name is known here or nowhere.
dns.Resolver.prototype.resolve4 = async (hostname) => [names[hostname] ?? unknown(hostname)];
dns.Resolver.prototype.resolve6 = async (hostname) => unknown(hostname);

function unknown(hostname) {
  throw Object.assign(new Error(`queryA ENOTFOUND ${hostname}`), { code: "ENOTFOUND" });
}

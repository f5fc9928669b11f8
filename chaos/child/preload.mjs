// Loaded into every process under test before the first of Posthorn's modules: the surroundings it is to live in.
import dns from "node:dns/promises";
import { register } from "node:module";

const { edits, clockSkewMs, names } = JSON.parse(process.env.CHAOS_SURROUNDINGS);
delete process.env.CHAOS_SURROUNDINGS;

// Our channel to the parent keeps nothing running, and whoever is left alone ends. All it ever asks is this.
process.on("message", () => process.send?.({ rssBytes: process.memoryUsage.rss() }));
process.channel?.unref();
process.on("disconnect", () => process.exit());

// Before tsx registers: it gets the changed text and compiles that.
if (edits.length > 0) register("./plant-hooks.mjs", import.meta.url, { data: edits });

if (clockSkewMs !== 0) {
  const TrueDate = Date;
  globalThis.Date = class extends TrueDate {
    constructor(...args) {
      if (args.length === 0) super(TrueDate.now() + clockSkewMs);
      else super(...args);
    }
    static now() {
      return TrueDate.now() + clockSkewMs;
    }
  };
}

// No name server is ever asked: a name is known here or nowhere.
dns.Resolver.prototype.resolve4 = async (hostname) => [names[hostname] ?? unknown(hostname)];
dns.Resolver.prototype.resolve6 = async (hostname) => unknown(hostname);

function unknown(hostname) {
  throw Object.assign(new Error(`queryA ENOTFOUND ${hostname}`), { code: "ENOTFOUND" });
}

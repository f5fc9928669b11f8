// A process that sends to many hostile receivers at once and prints how much memory that took. It measures itself, so
// that nothing but a dispatcher is included.
import { Dispatcher } from "../../packages/posthorn/src/attempt/dispatcher.ts";
import { parseAddressPolicy } from "../../packages/posthorn/src/attempt/guard/guard-address.ts";

export interface SenderReport {
  readonly grownMb: number;
  readonly healthyStatus: number | string;
  /** The number of requests by outcome. */
  readonly outcomes: Readonly<Record<string, number>>;
}

/** The receiver's URL, how many requests to each path, and the paths with the deadline of each: `silent:2000`. */
const [, , url = "", each = "0", ...targets] = process.argv;
const policy = parseAddressPolicy({ allowHttp: true, allowedCidrs: ["127.0.0.0/8"] });
const dispatcher = new Dispatcher({ policy });

const post = async (path: string, timeoutMs: number): Promise<number | string> => {
  const request = { tenant: path, url: `${url}/${path}`, headers: {}, body: Buffer.from("{}"), timeoutMs };
  const outcome = await dispatcher.send(request);
  return outcome.kind === "responded" ? outcome.statusCode : outcome.error;
};

await post("ok", 10_000);
const before = process.resourceUsage().maxRSS;
const hostile = targets.flatMap((target) => {
  const [path = "", timeoutMs] = target.split(":");
  return Array.from({ length: Number(each) }, () => post(path, Number(timeoutMs)));
});
const healthyStatus = await post("ok", 40_000);
const outcomes: Record<string, number> = {};
for (const outcome of await Promise.all(hostile)) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
await dispatcher.close();
const grownMb = Math.round((process.resourceUsage().maxRSS - before) / 1024);
process.stdout.write(JSON.stringify({ grownMb, healthyStatus, outcomes } satisfies SenderReport));

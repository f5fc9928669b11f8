// Compares receivers: verified and deduplicated requests per second, relative to a bare handler and to one written by hand.
import { generateSecret } from "@posthorn/wire";
import { type Costs, costs, medianOf, readCounters, shareOf } from "../measure.ts";
import type { Plan } from "../options.ts";
import type { ReceiverKind, ReceiverSetup } from "../programs/receiving-server.ts";
import type { SignedLoad, SignedResult } from "../programs/signed-generator.ts";
import type { Subprocess } from "../system/subprocess.ts";
import { percent, progress, ratio, renderTable, whole } from "../table.ts";
import type { World } from "../world.ts";

interface Receiver {
  readonly kind: ReceiverKind;
  readonly database: string;
  readonly port: number;
  readonly pid: number;
  readonly subprocess: Subprocess;
}

const connections = 64;
/** More than the bare handler can process; a run ends when its requests are used up. */
const mostPerSecond = 15_000;
const rewarmMs = 500;
const secret = generateSecret();

const titles: Record<ReceiverKind, string> = {
  bare: "bare handler: reads the body, returns 200",
  memory: "receiver, memory",
  "by hand": "by hand, PostgreSQL",
  transactional: "receiver, PostgreSQL, transactional",
  lease: "receiver, PostgreSQL, lease",
};

/** Includes a run with duplicates only. */
const seeDuplicates: ReadonlySet<ReceiverKind> = new Set(["memory", "by hand", "transactional"]);

const head = [
  "receiving",
  "requests/s",
  "statements",
  "Node µs",
  "PG µs",
  "of bare",
  "of by hand",
  "others' load",
];

export async function receivingTable(world: World, plan: Plan): Promise<string | null> {
  if (!plan.parts.has("receiving")) return null;
  const generator = world.startSubprocess(new URL("../programs/signed-generator.ts", import.meta.url));
  const receivers: Receiver[] = [];
  for (const kind of Object.keys(titles) as ReceiverKind[]) {
    receivers.push(await startReceiver(world, kind, plan.profileDir));
  }
  const fresh = new Map<ReceiverKind, Costs[]>();
  const again = new Map<ReceiverKind, Costs[]>();
  const load = (receiver: Receiver, durationMs: number) =>
    loadWithFresh(world, generator, receiver, durationMs);
  const note = (runs: Map<ReceiverKind, Costs[]>, kind: ReceiverKind, run: Costs, title: string) => {
    runs.set(kind, [...(runs.get(kind) ?? []), run]);
    progress(`${title}: ${whole(run.perSecond)}/s`);
  };
  for (const receiver of receivers) await load(receiver, plan.warmUpMs);
  // Alternating, so that all are measured under the same conditions.
  for (let index = 1; index <= plan.runs; index += 1) {
    for (const receiver of receivers) {
      const { kind } = receiver;
      await load(receiver, rewarmMs);
      const { run, responded } = await load(receiver, plan.runMs);
      note(fresh, kind, run, titles[kind]);
      if (!seeDuplicates.has(kind)) continue;
      await generator.call("keep", responded);
      const repeated = await measureLoad(world, generator, receiver, plan.runMs, 0);
      note(again, kind, repeated.run, `${titles[kind]}, duplicates`);
    }
  }
  for (const { subprocess } of receivers) await subprocess.end();
  return renderTable(
    head,
    receivers.flatMap(({ kind }) => rowsOf(kind, fresh, again)),
  );
}

async function startReceiver(
  world: World,
  kind: ReceiverKind,
  profileDir: string | undefined,
): Promise<Receiver> {
  const profile = profileDir === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profileDir}`];
  const subprocess = world.startSubprocess(
    new URL("../programs/receiving-server.ts", import.meta.url),
    profile,
  );
  const database = `receiving_${kind.replace(" ", "_")}`;
  const setup: ReceiverSetup = { kind, secret, database: await world.createDatabase(database) };
  return {
    kind,
    database,
    port: await subprocess.call<number>("start", setup),
    pid: subprocess.pid,
    subprocess,
  };
}

async function loadWithFresh(world: World, generator: Subprocess, receiver: Receiver, durationMs: number) {
  const count = Math.ceil((mostPerSecond * durationMs) / 1000);
  await generator.call("sign", { count, secret });
  return await measureLoad(world, generator, receiver, durationMs, 1);
}

/** `callsPerRequest` is 0 if all requests are duplicates. Throws if the handler ran more or less often. */
async function measureLoad(
  world: World,
  generator: Subprocess,
  receiver: Receiver,
  durationMs: number,
  callsPerRequest: 0 | 1,
): Promise<{ readonly run: Costs; readonly responded: number }> {
  const handledBefore = await receiver.subprocess.call<number>("handled");
  const before = await readCounters(world, receiver);
  const load: SignedLoad = { port: receiver.port, connections, durationMs };
  const { responded, elapsedMs } = await generator.call<SignedResult>("run", load);
  const after = await readCounters(world, receiver);
  const handled = (await receiver.subprocess.call<number>("handled")) - handledBefore;
  if (handled !== responded * callsPerRequest) {
    throw new Error(`${receiver.kind}: ${responded} requests got a response, and ${handled} were handled.`);
  }
  return { run: costs(before, after, responded, elapsedMs), responded };
}

type Runs = ReadonlyMap<ReceiverKind, readonly Costs[]>;

function rowsOf(kind: ReceiverKind, fresh: Runs, again: Runs): string[][] {
  const usesPostgres = kind === "transactional" || kind === "lease";
  const row = (title: string, runs: Runs): string[] => {
    const own = runs.get(kind) ?? [];
    const { perSecond, statements, nodeMicros, postgresMicros, foreignShare } = medianOf(own);
    return [
      title,
      whole(perSecond),
      statements.toFixed(1),
      whole(nodeMicros),
      usesPostgres || kind === "by hand" ? whole(postgresMicros) : "",
      kind === "bare" ? "" : ratio(shareOf(own, fresh.get("bare") ?? [])),
      usesPostgres ? ratio(shareOf(own, runs.get("by hand") ?? [])) : "",
      percent(foreignShare),
    ];
  };
  const rows = [row(titles[kind], fresh)];
  return seeDuplicates.has(kind) ? [...rows, row("  all of them duplicates", again)] : rows;
}

// Compares receivers: verified and deduplicated requests per second, relative to a bare handler and to one written by hand.
import { generateSecret } from "@posthorn/wire";
import { foreignShare, medianNumber, perDelivery, readCounters } from "./measure.ts";
import type { ReceiverKind, ReceiverSetup } from "./receiving-server.ts";
import type { SignedLoad, SignedResult } from "./signed-generator.ts";
import type { Subprocess } from "./subprocess.ts";
import type { World } from "./world.ts";

export interface ReceivingFigures {
  readonly title: string;
  readonly perSecond: number;
  readonly statements: number;
  readonly nodeMicros: number | null;
  readonly postgresMicros: number | null;
  /** Null if not applicable. */
  readonly ofBare: number | null;
  readonly ofByHand: number | null;
  readonly foreignShare: number | null;
}

export interface ReceivingPlan {
  readonly runs: number;
  readonly runMs: number;
  readonly warmUpMs: number;
  readonly profileDir: string | undefined;
}

interface Run {
  readonly perSecond: number;
  readonly statements: number;
  readonly nodeMicros: number | null;
  readonly postgresMicros: number | null;
  readonly foreignShare: number | null;
}

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
  memory: "kit, memory",
  "by hand": "by hand, PostgreSQL",
  transactional: "kit, PostgreSQL, transactional",
  lease: "kit, PostgreSQL, lease",
};

/** Includes a run with duplicates only. */
const seeDuplicates: ReadonlySet<ReceiverKind> = new Set(["memory", "by hand", "transactional"]);

export async function compareReceivers(
  world: World,
  plan: ReceivingPlan,
  onRun: (title: string, perSecond: number) => void,
): Promise<ReceivingFigures[]> {
  const generator = world.startSubprocess("./signed-generator.ts");
  const receivers: Receiver[] = [];
  for (const kind of Object.keys(titles) as ReceiverKind[]) {
    receivers.push(await startReceiver(world, kind, plan.profileDir));
  }
  const fresh = new Map<ReceiverKind, Run[]>();
  const again = new Map<ReceiverKind, Run[]>();
  const load = (receiver: Receiver, durationMs: number) =>
    loadWithFresh(world, generator, receiver, durationMs);
  const note = (runs: Map<ReceiverKind, Run[]>, kind: ReceiverKind, run: Run, title: string) => {
    runs.set(kind, [...(runs.get(kind) ?? []), run]);
    onRun(title, run.perSecond);
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
  return receivers.flatMap(({ kind }) => figuresOf(kind, fresh, again));
}

async function startReceiver(
  world: World,
  kind: ReceiverKind,
  profileDir: string | undefined,
): Promise<Receiver> {
  const profile = profileDir === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profileDir}`];
  const subprocess = world.startSubprocess("./receiving-server.ts", profile);
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
): Promise<{ readonly run: Run; readonly responded: number }> {
  const handledBefore = await receiver.subprocess.call<number>("handled");
  const before = await readCounters(world, receiver);
  const load: SignedLoad = { port: receiver.port, connections, durationMs };
  const { responded, elapsedMs } = await generator.call<SignedResult>("run", load);
  const after = await readCounters(world, receiver);
  const handled = (await receiver.subprocess.call<number>("handled")) - handledBefore;
  if (handled !== responded * callsPerRequest) {
    throw new Error(`${receiver.kind}: ${responded} requests got a response, and ${handled} were handled.`);
  }
  const run = {
    perSecond: (responded / elapsedMs) * 1000,
    statements: (after.statements - before.statements) / responded,
    nodeMicros: perDelivery(after.nodeMs, before.nodeMs, responded),
    postgresMicros: perDelivery(after.postgresMs, before.postgresMs, responded),
    foreignShare: foreignShare(before, after),
  };
  return { run, responded };
}

function figuresOf(
  kind: ReceiverKind,
  fresh: ReadonlyMap<ReceiverKind, readonly Run[]>,
  again: ReadonlyMap<ReceiverKind, readonly Run[]>,
): ReceivingFigures[] {
  const usesPostgres = kind === "transactional" || kind === "lease";
  const figures = (title: string, runs: ReadonlyMap<ReceiverKind, readonly Run[]>): ReceivingFigures => {
    const own = runs.get(kind) ?? [];
    const bare = fresh.get("bare") ?? [];
    const byHand = runs.get("by hand") ?? [];
    const median = (pick: (run: Run) => number | null) => medianNumber(own.map((run) => pick(run) ?? NaN));
    return {
      title,
      perSecond: median(({ perSecond }) => perSecond),
      statements: median(({ statements }) => statements),
      nodeMicros: median(({ nodeMicros }) => nodeMicros),
      postgresMicros: usesPostgres || kind === "by hand" ? median((run) => run.postgresMicros) : null,
      ofBare: kind === "bare" ? null : shareOf(own, bare),
      ofByHand: usesPostgres ? shareOf(own, byHand) : null,
      // the worst run
      foreignShare: Math.max(...own.map((run) => run.foreignShare ?? NaN)),
    };
  };
  const rows = [figures(titles[kind], fresh)];
  return seeDuplicates.has(kind) ? [...rows, figures("  all of them duplicates", again)] : rows;
}

/** Returns the median ratio of runs measured in the same round. */
function shareOf(own: readonly Run[], others: readonly Run[]): number {
  return medianNumber(own.map(({ perSecond }, index) => perSecond / (others[index]?.perSecond ?? NaN)));
}

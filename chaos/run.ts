// One run: baseline, black hole, faults, recovery and final phase, then the check of all invariants.

import { setTimeout as delay } from "node:timers/promises";
import { monotonicMs } from "../benchmarks/system/monotonic.ts";
import {
  readCounters,
  readLedger,
  readReceiverLog,
  writeLaneOwners,
  writeMachine,
} from "./evidence/collect.ts";
import { publishAgain, untilSettled } from "./evidence/convergence.ts";
import { type Evidence, type IndexedEvidence, type Interval, indexEvidence } from "./evidence/evidence.ts";
import { type Figures, figuresOf } from "./evidence/figures.ts";
import { FaultInjector } from "./faults/fault-injector.ts";
import { faultKinds, planFaults } from "./faults/faults.ts";
import { waits } from "./invariants/liveness.ts";
import { recoveries } from "./invariants/processes.ts";
import { judgeAll, type Verdict } from "./invariants.ts";
import type { Scale } from "./options.ts";
import { type PlantName, plants } from "./plant.ts";
import { stream } from "./random.ts";
import { World } from "./world/world.ts";

export interface RunOptions {
  readonly seed: number;
  readonly scale: Scale;
  readonly plant: PlantName | null;
  readonly print: (line: string) => void;
  /** Called before anything is started, so that an interrupted run can be closed. */
  readonly onWorld: (world: World) => void;
}

export interface Outcome {
  readonly figures: Figures;
  readonly verdicts: readonly Verdict[];
  readonly logsDir: string;
  removeLogs(): void;
}

export async function run(options: RunOptions): Promise<Outcome> {
  const world = await World.open(options, options.onWorld);
  try {
    const evidence = indexEvidence(await gatherEvidence(world, options));
    options.print(describeComparable(evidence));
    return {
      verdicts: judgeAll(evidence),
      figures: figuresOf(evidence),
      logsDir: world.logsDir,
      removeLogs: () => world.removeLogs(),
    };
  } finally {
    await world.close();
  }
}

async function gatherEvidence(world: World, options: RunOptions): Promise<Evidence> {
  const { seed, scale, plant, print } = options;
  const { publishers, receivers } = world;
  const faults = planFaults(seed, scale, plant === null ? faultKinds : plants[plant].faults);
  const injector = new FaultInjector(world);

  print(`seed ${seed}: ${scale.eventsPerSecond} events/s, baseline of ${scale.baselineMs / 1_000} s`);
  const from = monotonicMs();
  publishers.start();
  await delay(scale.baselineMs);
  const baseline = { from, until: monotonicMs(), memory: await world.mostMemory() };
  const blackHole = await runBlackHole(world, options);

  print(`${faults.length} faults in ${scale.chaosMs / 1_000} s, faulty receivers`);
  await receivers.call("setMode", "faulty");
  const outage = runOutage(world, scale);
  await injector.run(faults, scale.chaosMs);
  await outage;

  await receivers.call("setMode", "healthy");
  await injector.heal();
  const healedAt = monotonicMs();
  print("all faults removed; waiting until everything is delivered");
  await publishers.pause(scale.convergeMs / 2);
  const rest = await untilSettled(world, scale.convergeMs);
  const isConverged = rest.convergedAt !== null && scale.finalMs > 0;
  if (isConverged) print("everything is delivered; publishing again");
  const end = isConverged ? await publishAgain(world, scale) : { ...rest, final: null };
  publishers.stop();
  writeMachine(world);
  await writeLaneOwners(world);
  return {
    scale,
    endpoints: world.endpoints,
    publishes: publishers.publishes,
    ...readReceiverLog(world.receiverLog),
    ...(await readLedger(world)),
    counters: await readCounters(world),
    stalls: world.stalls.intervals,
    processor: world.processor.samples,
    injectedFaults: injector.injectedFaults,
    exits: [...world.exits],
    unexpectedOutput: [...world.unexpectedOutput],
    baseline,
    blackHole,
    healedAt,
    ...end,
  };
}

/** Describes how many attempts had no excuse; timing invariants check only those. */
function describeComparable(evidence: IndexedEvidence): string {
  const share = (waits: readonly { isExcused: boolean }[]): string =>
    `${waits.filter(({ isExcused }) => !isExcused).length} of ${waits.length}`;
  return `undisturbed: ${share(waits(evidence))} due attempts, ${share(recoveries(evidence))} attempts interrupted by a kill`;
}

/** Makes one receiver hang before other faults begin. */
async function runBlackHole(
  { receivers, endpoints }: World,
  { seed, scale, print }: RunOptions,
): Promise<Interval & { endpoint: string }> {
  const endpoint = stream(seed, "black hole").pick(endpoints).name;
  const from = monotonicMs();
  if (scale.blackHoleMs > 0) {
    print(`${endpoint} accepts requests and never responds for ${scale.blackHoleMs / 1_000} s`);
    await receivers.call("setBlackHole", endpoint);
    await delay(scale.blackHoleMs);
    await receivers.call("setBlackHole", null);
  }
  return { from, until: monotonicMs(), endpoint };
}

async function runOutage({ receivers }: World, { chaosMs, outageMs }: Scale): Promise<void> {
  if (outageMs === 0 || chaosMs < outageMs * 3) return;
  await delay(chaosMs / 2 - outageMs / 2);
  await receivers.call("setMode", "unreachable");
  await delay(outageMs);
  await receivers.call("setMode", "faulty");
}

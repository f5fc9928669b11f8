// One run: a quiet stretch, then strikes, then healing, and the question whether everything promised was kept.

import { setTimeout as delay } from "node:timers/promises";
import { monotonicMs } from "../benchmarks/monotonic.ts";
import { readCounters, readLedger, readReceiverLog, writeStalls } from "./collect.ts";
import { calmDown, untilAtRest } from "./convergence.ts";
import { type CaseFile, type Evidence, openCase, type Stretch } from "./evidence.ts";
import { type Figures, figuresOf } from "./figures.ts";
import { waits } from "./invariants/liveness.ts";
import { recoveries } from "./invariants/processes.ts";
import { invariants, type Verdict } from "./invariants.ts";
import { Nemesis } from "./nemesis.ts";
import type { Scale } from "./options.ts";
import { type PlantName, plants } from "./plant.ts";
import { stream } from "./random.ts";
import { planStrikes, strikeKinds } from "./strikes.ts";
import { World } from "./world.ts";

export interface RunOptions {
  readonly seed: number;
  readonly scale: Scale;
  readonly plant: PlantName | null;
  readonly say: (line: string) => void;
  /** Told at once, so that whoever is interrupted can end what was started. */
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
    const file = openCase(await experience(world, options));
    options.say(whatWasComparable(file));
    return {
      verdicts: invariants.map(({ name, sentence, broken }) => ({
        name,
        sentence,
        counterExamples: broken(file),
      })),
      figures: figuresOf(file),
      logsDir: world.logsDir,
      removeLogs: () => world.removeLogs(),
    };
  } finally {
    await world.close();
  }
}

async function experience(world: World, options: RunOptions): Promise<Evidence> {
  const { seed, scale, plant, say } = options;
  const { publishers, receivers } = world;
  const strikes = planStrikes(seed, scale, plant === null ? strikeKinds : plants[plant].strikes);
  const nemesis = new Nemesis(world, say);

  say(`seed ${seed}: ${scale.eventsPerSecond} events/s, ${scale.quietMs / 1_000} s of quiet`);
  const from = monotonicMs();
  publishers.start();
  await delay(scale.quietMs);
  const quiet = { from, until: monotonicMs(), memory: await world.mostMemory() };
  const blackHole = await letOneHang(world, options);

  say(`${strikes.length} strikes in ${scale.chaosMs / 1_000} s, receivers misbehave`);
  await receivers.ask("become", "seeded");
  const outage = takeReceiversAway(world, scale);
  await nemesis.run(strikes, scale.chaosMs);
  await outage;

  await receivers.ask("become", "well");
  await nemesis.heal();
  const healedAt = monotonicMs();
  say("healed; waiting until nothing is owed");
  await publishers.rest(scale.convergeMs / 2);
  const rest = await untilAtRest(world, scale.convergeMs);
  const isCalm = rest.convergedAt !== null && scale.calmMs > 0;
  if (isCalm) say("nothing is owed; is everything as it was?");
  const end = isCalm ? await calmDown(world, scale) : { ...rest, calm: null };
  publishers.stop();
  writeStalls(world);
  return {
    scale,
    endpoints: world.endpoints,
    publishes: publishers.publishes,
    ...readReceiverLog(world.receiverLog),
    ...(await readLedger(world)),
    counters: await readCounters(world),
    stalls: world.stalls.stretches,
    deeds: nemesis.deeds,
    exits: [...world.exits],
    complaints: [...world.complaints],
    quiet,
    blackHole,
    healedAt,
    ...end,
  };
}

/** A promise about time says nothing where everything was excused. */
function whatWasComparable(file: CaseFile): string {
  const share = (waits: readonly { isExcused: boolean }[]): string =>
    `${waits.filter(({ isExcused }) => !isExcused).length} of ${waits.length}`;
  return `nothing was in the way of ${share(waits(file))} attempts that were due, and of ${share(recoveries(file))} that a kill interrupted`;
}

/** Before anything else is broken: then the others have no reason to wait. */
async function letOneHang(
  { receivers, endpoints }: World,
  { seed, scale, say }: RunOptions,
): Promise<Stretch & { endpoint: string }> {
  const endpoint = stream(seed, "black hole").pick(endpoints).name;
  const from = monotonicMs();
  if (scale.blackHoleMs > 0) {
    say(`${endpoint} takes every request and answers none for ${scale.blackHoleMs / 1_000} s`);
    await receivers.ask("swallow", endpoint);
    await delay(scale.blackHoleMs);
    await receivers.ask("swallow", null);
  }
  return { from, until: monotonicMs(), endpoint };
}

async function takeReceiversAway({ receivers }: World, { chaosMs, outageMs }: Scale): Promise<void> {
  if (outageMs === 0 || chaosMs < outageMs * 3) return;
  await delay(chaosMs / 2 - outageMs / 2);
  await receivers.ask("become", "away");
  await delay(outageMs);
  await receivers.ask("become", "seeded");
}

// One run: a quiet stretch, then strikes, then healing, and the question whether everything promised was kept.

import { setTimeout as delay } from "node:timers/promises";
import { monotonicMs } from "../benchmarks/monotonic.ts";
import { readLedger, readReceiverLog } from "./collect.ts";
import { canaryTenant } from "./endpoints.ts";
import { type Evidence, openCase } from "./evidence.ts";
import { type Figures, figuresOf } from "./figures.ts";
import { invariants, type Verdict } from "./invariants.ts";
import { Nemesis } from "./nemesis.ts";
import type { Scale } from "./options.ts";
import { type PlantName, plants } from "./plant.ts";
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

async function experience(world: World, { seed, scale, plant, say }: RunOptions): Promise<Evidence> {
  const { publishers, receivers } = world;
  const strikes = planStrikes(seed, scale, plant === null ? strikeKinds : plants[plant].strikes);
  const nemesis = new Nemesis(world);

  say(`seed ${seed}: ${scale.eventsPerSecond} events/s, ${scale.quietMs / 1_000} s of quiet`);
  const from = monotonicMs();
  publishers.start();
  await delay(scale.quietMs);
  const quiet = { from, until: monotonicMs() };

  say(`${strikes.length} strikes in ${scale.chaosMs / 1_000} s, receivers misbehave`);
  await receivers.ask("become", "seeded");
  const outage = takeReceiversAway(world, scale);
  await nemesis.run(strikes, scale.chaosMs);
  await outage;

  await receivers.ask("become", "well");
  await nemesis.heal();
  const healedAt = monotonicMs();
  say("healed; waiting until nothing is owed");
  await publishers.stop(scale.convergeMs / 2);
  const { convergedAt, unsettled } = await convergence(world, healedAt + scale.convergeMs);
  return {
    scale,
    endpoints: world.endpoints,
    publishes: publishers.publishes,
    ...readReceiverLog(world.receiverLog),
    ...(await readLedger(world)),
    deeds: nemesis.deeds,
    exits: [...world.exits],
    complaints: [...world.complaints],
    quiet,
    healedAt,
    convergedAt,
    unsettled,
  };
}

async function takeReceiversAway({ receivers }: World, { chaosMs, outageMs }: Scale): Promise<void> {
  if (outageMs === 0 || chaosMs < outageMs * 3) return;
  await delay(chaosMs / 2 - outageMs / 2);
  await receivers.ask("become", "away");
  await delay(outageMs);
  await receivers.ask("become", "seeded");
}

/** Nothing owed, nothing waiting for its fan-out, no request open, every process up. */
async function convergence(
  world: World,
  deadline: number,
): Promise<{ convergedAt: number | null; unsettled: string[] }> {
  for (;;) {
    const unsettled = await whatIsUnsettled(world);
    if (unsettled.length === 0) return { convergedAt: monotonicMs(), unsettled };
    if (monotonicMs() > deadline) return { convergedAt: null, unsettled };
    await delay(100);
  }
}

async function whatIsUnsettled({ postgres, receivers, slots }: World): Promise<string[]> {
  // the canaries' circuit is open, and what they are owed waits behind it
  const [row] = await postgres.query<{ queue: number; outbox: number }>(
    `select
       (
         select count(*)
         from posthorn.queue q
         join posthorn.endpoints ep on ep.id = q.endpoint_id
         where ep.tenant <> '${canaryTenant}'
       )::integer as queue,
       (select count(*) from posthorn.outbox)::integer as outbox`,
  );
  const open = Object.values(await receivers.ask<Record<string, number>>("openBySender"));
  return [
    { what: "deliveries are owed", count: row?.queue ?? 0 },
    { what: "events wait for their fan-out", count: row?.outbox ?? 0 },
    { what: "requests are open", count: open.reduce((sum, count) => sum + count, 0) },
    { what: "processes are not up", count: slots.filter((slot) => slot.liveName === null).length },
  ].flatMap(({ what, count }) => (count === 0 ? [] : `${count} ${what}`));
}

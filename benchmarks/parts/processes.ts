// Measures one, two and four processes on one database: the cost of a delivery, its latency, and how the lanes are
// shared. The processes run on the same cores as everything else, so throughput is not compared. Two servers with a
// database each show what a second process costs on this machine if it shares nothing.
import {
  type Costs,
  type Measurement,
  measure,
  measureTogether,
  medianNumber,
  medianOf,
} from "../measure.ts";
import type { Plan } from "../options.ts";
import { startPosthorn } from "../subject.ts";
import { milliseconds, percent, progress, ratio, renderTable, whole } from "../table.ts";
import type { World } from "../world.ts";

// Each process has to be warmed up, and the lanes to be shared.
const counts = [1, 2, 4] as const;
const generatorProgram = new URL("../programs/generator.ts", import.meta.url);
const headings = [
  "",
  "deliveries/s",
  "accepted→arrival p50",
  "accepted→arrival p99",
  "statements",
  "WAL bytes",
];
const costHeadings = ["Node µs", "PG µs", "CPU compared with one", "lanes of each", "others' load"];

interface Run extends Measurement {
  readonly lanes: string;
}

export async function processesTable(world: World, plan: Plan): Promise<string | null> {
  if (!plan.parts.has("processes")) return null;
  const subjects = [];
  for (const count of counts) subjects.push(await startWith(world, count));
  const separateRuns: Costs[] = [];
  const runs = new Map<number, Run[]>(counts.map((count) => [count, []]));
  const separate = await startSeparate(world);
  for (const { count, run } of subjects) await run(plan.warmUpMs * (1 + 3 * count));
  await separate.run(plan.warmUpMs * 7);
  for (let index = 1; index <= plan.runs; index += 1) {
    for (const { count, run } of index % 2 === 1 ? subjects : subjects.toReversed()) {
      // its lanes were released while the others ran
      await run(plan.warmUpMs);
      const measured = await run(plan.runMs);
      progress(`${count} processes, run ${index} of ${plan.runs}: ${whole(cpuOf(measured))} µs per delivery`);
      runs.get(count)?.push(measured);
    }
    await separate.run(plan.warmUpMs);
    separateRuns.push(await separate.run(plan.runMs));
  }
  for (const { stop } of [...subjects, separate]) await stop();
  const alone = runs.get(1) as Run[];
  const rows = counts.map((count) => rowOf(count, runs.get(count) as Run[], alone));
  rows.push(separateRow(separateRuns, alone));
  return renderTable([...headings, ...costHeadings], rows);
}

async function startSeparate(world: World) {
  const generators = [world.generator, world.startSubprocess(generatorProgram)];
  const subjects = await Promise.all(
    generators.map(async (generator, index) => ({
      ...(await startPosthorn(world, `separate_${index}`, undefined)),
      generator,
    })),
  );
  return {
    run: (durationMs: number) => measureTogether(world, subjects, durationMs),
    stop: async () => {
      for (const subject of subjects) await subject.stop();
    },
  };
}

async function startWith(world: World, count: number) {
  const env = { POSTHORN_PROCESSES: String(count) };
  const subject = await startPosthorn(world, `processes_${count}`, undefined, { env });
  const run = async (durationMs: number): Promise<Run> => {
    const measured = await measure(world, subject, { batch: 1, durationMs, rate: null });
    return { ...measured, lanes: await subject.lanesPerWorker() };
  };
  return { count, run, stop: subject.stop };
}

function separateRow(runs: readonly Costs[], alone: readonly Run[]): string[] {
  const figures = medianOf(runs);
  return [
    "  two servers with a database each",
    whole(figures.perSecond),
    "",
    "",
    figures.statements.toFixed(3),
    whole(figures.walBytes),
    whole(figures.nodeMicros),
    whole(figures.postgresMicros),
    ratio(comparedWith(alone, runs)),
    "",
    percent(figures.foreignShare),
  ];
}

function comparedWith(alone: readonly Costs[], runs: readonly Costs[]): number {
  return medianNumber(runs.map((run, index) => cpuOf(run) / cpuOf(alone[index] as Costs)));
}

function rowOf(count: number, runs: readonly Run[], alone: readonly Run[]): string[] {
  const figures = medianOf(runs);
  return [
    `single events, ${count === 1 ? "1 process" : `${count} processes`}`,
    whole(figures.perSecond),
    milliseconds(figures.acceptedP50),
    milliseconds(figures.acceptedP99),
    figures.statements.toFixed(3),
    whole(figures.walBytes),
    whole(figures.nodeMicros),
    whole(figures.postgresMicros),
    ratio(comparedWith(alone, runs)),
    runs.at(-1)?.lanes ?? "",
    percent(figures.foreignShare),
  ];
}

function cpuOf({ nodeMicros, postgresMicros }: Costs): number {
  return nodeMicros + postgresMicros;
}

// Measures one, two and four processes on one database: the cost of a delivery, its latency, and how the lanes are
// shared. The processes run on the same cores as everything else, so throughput is not compared.
import { type Measurement, measure, medianNumber, medianOf } from "../measure.ts";
import type { Plan } from "../options.ts";
import { startPosthorn } from "../subject.ts";
import { milliseconds, percent, progress, ratio, renderTable, whole } from "../table.ts";
import type { World } from "../world.ts";

// Each process has to be warmed up, and the lanes to be shared.
const counts = [1, 2, 4] as const;
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
  const runs = new Map<number, Run[]>(counts.map((count) => [count, []]));
  for (const { count, run } of subjects) await run(plan.warmUpMs * (1 + 3 * count));
  for (let index = 1; index <= plan.runs; index += 1) {
    for (const { count, run } of index % 2 === 1 ? subjects : subjects.toReversed()) {
      // its lanes were released while the others ran
      await run(plan.warmUpMs);
      const measured = await run(plan.runMs);
      progress(`${count} processes, run ${index} of ${plan.runs}: ${whole(cpuOf(measured))} µs per delivery`);
      runs.get(count)?.push(measured);
    }
  }
  for (const { stop } of subjects) await stop();
  const alone = runs.get(1) as Run[];
  const rows = counts.map((count) => rowOf(count, runs.get(count) as Run[], alone));
  return renderTable([...headings, ...costHeadings], rows);
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

function rowOf(count: number, runs: readonly Run[], alone: readonly Run[]): string[] {
  const figures = medianOf(runs);
  const compared = medianNumber(runs.map((run, index) => cpuOf(run) / cpuOf(alone[index] as Run)));
  return [
    `single events, ${count === 1 ? "1 process" : `${count} processes`}`,
    whole(figures.perSecond),
    milliseconds(figures.acceptedP50),
    milliseconds(figures.acceptedP99),
    figures.statements.toFixed(3),
    whole(figures.walBytes),
    whole(figures.nodeMicros),
    whole(figures.postgresMicros),
    ratio(compared),
    runs.at(-1)?.lanes ?? "",
    percent(figures.foreignShare),
  ];
}

function cpuOf({ nodeMicros, postgresMicros }: Measurement): number {
  return nodeMicros + postgresMicros;
}

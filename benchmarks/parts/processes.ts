// Measures one, two and four processes on one database: the cost of a delivery, its latency, and how the lanes are
// shared. The processes run on the same cores as everything else, so throughput is not compared. Two servers of which each
// gets the events of its own lanes show what passing events costs; two with a database each, what sharing one does; two
// ceilings with a database each, what two processes cost on this machine whatever they are.
import {
  type Costs,
  type Measurement,
  measure,
  measureTogether,
  medianNumber,
  medianOf,
} from "../measure.ts";
import type { Plan } from "../options.ts";
import { startCeiling, startPosthorn } from "../subject.ts";
import { milliseconds, percent, progress, ratio, renderTable, whole } from "../table.ts";
import { endpointCount } from "../workload.ts";
import type { World } from "../world.ts";

const counts = [1, 2, 4] as const;
const connectionsPerProcess = 64;
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

/** A server, or several, under one load. */
interface Row {
  readonly title: string;
  run(durationMs: number): Promise<Run>;
  readonly runs: Run[];
}

interface Run extends Costs, Omit<Partial<Measurement>, keyof Costs> {
  readonly lanes?: string;
}

export async function processesTable(world: World, plan: Plan): Promise<string | null> {
  if (!plan.parts.has("processes")) return null;
  const servers = [];
  for (const count of counts) servers.push(await startWith(world, count));
  const routed = await startRouted(world);
  const separate = await startSeparate(world);
  const ceilings = await startCeilings(world);
  const groups = [servers.flatMap(({ rows }) => rows).concat(routed.rows, separate.rows), ceilings.rows];
  const rows = groups.flat();
  // each process has to be warmed up, and the lanes to be shared
  for (const { run } of rows) await run(plan.warmUpMs * 4);
  for (let index = 1; index <= plan.runs; index += 1) {
    for (const row of index % 2 === 1 ? rows : rows.toReversed()) {
      // its lanes were released while the others ran
      await row.run(plan.warmUpMs);
      const measured = await row.run(plan.runMs);
      progress(`${row.title}, run ${index} of ${plan.runs}: ${whole(cpuOf(measured))} µs per delivery`);
      row.runs.push(measured);
    }
  }
  for (const { stop } of [...servers, routed, separate, ceilings]) await stop();
  // each is compared with the first of its group: one process, and one ceiling
  return renderTable(
    [...headings, ...costHeadings],
    groups.flatMap((group) => group.map((row) => render(row, group[0] as Row))),
  );
}

async function startWith(world: World, count: number) {
  const env = { POSTHORN_PROCESSES: String(count) };
  const subject = await startPosthorn(world, `processes_${count}`, undefined, { env });
  const rowOf = (connections: number): Row => ({
    title: titleOf(count === 1 ? "1 process" : `${count} processes`, connections),
    run: async (durationMs) => {
      const measured = await measure(world, subject, { batch: 1, durationMs, rate: null, connections });
      return { ...measured, lanes: await subject.lanesPerWorker() };
    },
    runs: [],
  });
  return { rows: loadsOf(count).map(rowOf), stop: subject.stop };
}

/** Two servers on one database. Each gets the events of its half of the endpoints, so that none are passed. */
async function startRouted(world: World) {
  const first = await startPosthorn(world, "routed", undefined);
  const second = await world.startServer({ database: world.urlOf("routed"), role: "all" });
  const count = endpointCount / 2;
  return startTogether(world, "2 servers on one database, a half of the endpoints each", [
    { ...first, generator: world.generator, endpoints: { first: 0, count } },
    {
      ...first,
      generator: world.startSubprocess(generatorProgram),
      endpoints: { first: count, count },
      port: second.port,
      pid: second.pid,
      stop: () => second.stop(),
    },
  ]);
}

async function startSeparate(world: World) {
  const subjects = await twice(world, (index) => startPosthorn(world, `separate_${index}`, undefined));
  return startTogether(world, "2 servers with a database each", subjects);
}

async function startCeilings(world: World) {
  const subjects = await twice(world, (index) => startCeiling(world, `ceilings_${index}`));
  const one = startTogether(world, "1 ceiling", subjects.slice(0, 1));
  const two = startTogether(world, "2 ceilings with a database each", subjects);
  return { rows: [...one.rows, ...two.rows], stop: two.stop };
}

/** Two subjects, each with a generator of its own. */
function twice<Started>(world: World, start: (index: number) => Promise<Started>) {
  const generators = [world.generator, world.startSubprocess(generatorProgram)];
  return Promise.all(generators.map(async (generator, index) => ({ ...(await start(index)), generator })));
}

function startTogether(world: World, title: string, subjects: Parameters<typeof measureTogether>[1]) {
  const rowOf = (connections: number): Row => ({
    title: titleOf(title, connections),
    run: (durationMs) => measureTogether(world, subjects, { durationMs, connections }),
    runs: [],
  });
  const stop = async () => {
    for (const subject of subjects) await subject.stop();
  };
  return { rows: loadsOf(subjects.length).map(rowOf), stop };
}

/** As many connections as one process is measured with, and as many for each process. */
function loadsOf(processes: number): number[] {
  return [...new Set([connectionsPerProcess, connectionsPerProcess * processes])];
}

function titleOf(subject: string, connections: number): string {
  return `${subject}, ${connections} connections`;
}

function render({ title, runs }: Row, alone: Row): string[] {
  const figures = medianOf(runs);
  const latency = (value: number | undefined) => (value === undefined ? "" : milliseconds(value));
  return [
    title,
    whole(figures.perSecond),
    latency(figures.acceptedP50),
    latency(figures.acceptedP99),
    figures.statements.toFixed(3),
    whole(figures.walBytes),
    whole(figures.nodeMicros),
    whole(figures.postgresMicros),
    ratio(medianNumber(runs.map((run, index) => cpuOf(run) / cpuOf(alone.runs[index] as Run)))),
    runs.at(-1)?.lanes ?? "",
    percent(figures.foreignShare),
  ];
}

function cpuOf({ nodeMicros, postgresMicros }: Costs): number {
  return nodeMicros + postgresMicros;
}

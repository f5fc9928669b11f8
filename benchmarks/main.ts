// npm run bench: measures publishing and delivery with database, load generator and receiver on the same machine, and in
// the same run the ceiling: a process that does only the unavoidable work.
import { type Drain, drainBacklog } from "./backlog.ts";
import { afterOutage, type BlackHoleFigures, besideBlackHole, withSlowReceivers } from "./failures.ts";
import { fetchMs, fillBacklog, type MemoryFigures, measureMemory, prepareBacklog } from "./large-backlog.ts";
import { compareLists } from "./lists.ts";
import { type Measurement, measure, medianNumber, medianOf, type Workload } from "./measure.ts";
import { type Plan, readPlan } from "./options.ts";
import { compareReceivers, type ReceivingFigures } from "./receiving.ts";
import { type Subject, startCeiling, startPosthorn } from "./subject.ts";
import { machineLine, milliseconds, orDash, renderTable, whole } from "./table.ts";
import { batchSize } from "./workload.ts";
import { World } from "./world.ts";

type Mode = "single" | "batch";

const events: Record<Mode, { readonly title: string; readonly batch: Workload["batch"] }> = {
  single: { title: "single events", batch: 1 },
  batch: { title: `batches of ${batchSize}`, batch: batchSize },
};
const steadyRate = 2_000;
const smallBacklog = 1_000;
const rewarmMs = 500;

const legend = `A delivery counts when its success is recorded. Statements, WAL bytes and µs of processor time are per delivery. The
ceiling only receives, inserts in batches, sends signed POSTs and stores results in batches. Others' load is the share of
the machine used by processes outside the benchmark in the worst run; above a few per cent the figures are unreliable:
repeat them on an idle machine.
Targets on 2 cores: 8,000/s single, 15,000/s in batches, p50 ≤ 3 ms, 0.70 of the ceiling, less than 300 MB with 1,000,000
queued, a page of a list within 50 ms at 1,000,000 rows and at most 3 times as long as at 1,000.
Receiving: signed 1 KB requests on Node's http, 64 connections, each with its own id and one insert as its effect. By hand
means node:crypto and begin, insert on conflict do nothing, insert, commit. Lease mode commits three times.
Targets: 0.80 of by hand in transactional mode, 0.50 of the bare handler with memory.`;

const plan = readPlan(process.argv.slice(2));
if (plan !== null) await run(plan);

async function run(plan: Plan): Promise<void> {
  const opening = World.create();
  let isAborting = false;
  const abort = (exitCode: number): void => {
    if (isAborting) return;
    isAborting = true;
    void opening.then((world) => world.close()).finally(() => process.exit(exitCode));
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => abort(130));
  // the reader of the output is gone, as in `npm run bench | head`
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => abort(1));
  const world = await opening;
  try {
    const tables = [
      await throughputTable(world, plan),
      await backlogTable(world, plan),
      await listsTable(world, plan),
      await failuresTable(world, plan),
      await receivingTable(world, plan),
    ];
    for (const table of tables) if (table !== null) console.log(`\n${table}`);
    console.log(`\n${legend}\n${machineLine(world.postgresVersion)}`);
  } catch (error) {
    if (!world.isClosed) console.error(error);
    process.exitCode = 1;
  } finally {
    await world.close();
  }
}

// ── throughput ────────────────────────────────────────────────────────────────────────────────────────────────

async function throughputTable(world: World, plan: Plan): Promise<string | null> {
  const rows: string[][] = [];
  for (const mode of ["single", "batch"] as const) rows.push(...(await throughputRows(world, plan, mode)));
  if (rows.length === 0) return null;
  const head = [
    "",
    "deliveries/s",
    "accepted→arrival p50",
    "p99 ms",
    "sent→arrival p50",
    "p99 ms",
    "statements",
    "WAL bytes",
    "Node µs",
    "PG µs",
    "peak MB",
    "of ceiling",
    "others' load",
  ];
  return renderTable(head, rows);
}

async function throughputRows(world: World, plan: Plan, mode: Mode): Promise<string[][]> {
  const { title, batch } = events[mode];
  const withPosthorn = plan.parts.has(mode);
  const withCeiling =
    plan.parts.has("ceiling") && (withPosthorn || !(plan.parts.has("single") || plan.parts.has("batch")));
  const posthorn = withPosthorn ? await startPosthorn(world, mode, plan.profileDir) : null;
  const ceiling = withCeiling ? await startCeiling(world, `ceiling_${mode}`) : null;
  const warmUp = (subject: Subject, durationMs: number): Promise<Measurement> =>
    measure(world, subject, { batch, durationMs, rate: null });
  const checked =
    plan.parts.has("checked") && mode === "single"
      ? await startPosthorn(world, "checked", plan.profileDir, { isChecked: true })
      : null;
  const subjects = [posthorn, checked, ceiling].filter((subject) => subject !== null);
  const runs = new Map<Subject, Measurement[]>(subjects.map((subject) => [subject, []]));
  for (const subject of subjects) await warmUp(subject, plan.warmUpMs);
  // In short alternating runs, so that all are measured under the same conditions.
  for (let index = 1; index <= plan.runs; index += 1) {
    for (const subject of index % 2 === 1 ? subjects : subjects.toReversed()) {
      const name =
        subject === ceiling ? `ceiling, ${title}` : subject === checked ? `${title}, checked` : title;
      // its connections to the receiver were closed as idle while the others ran
      await warmUp(subject, rewarmMs);
      const measured = await measure(world, subject, { batch, durationMs: plan.runMs, rate: null });
      progress(`${name}, run ${index} of ${plan.runs}: ${whole(measured.perSecond)}/s`);
      runs.get(subject)?.push(measured);
    }
  }
  const rows: string[][] = [];
  const runsOf = (subject: Subject | null): Measurement[] => (subject && runs.get(subject)) ?? [];
  if (posthorn !== null)
    rows.push(throughputRow(`${title}, 64 connections`, runsOf(posthorn), runsOf(ceiling)));
  if (checked !== null) {
    rows.push(throughputRow(`${title}, with key, schema and limits`, runsOf(checked), runsOf(ceiling)));
    if (posthorn !== null) {
      const share = shareOf(runsOf(checked), runsOf(posthorn));
      rows.push([`  compared with those without (target: at least 0.90): ${share}`]);
    }
  }
  if (ceiling !== null) rows.push(throughputRow(`${title}, the ceiling`, runsOf(ceiling)));
  if (posthorn !== null) {
    const steady = await measure(world, posthorn, { batch, durationMs: plan.steadyMs, rate: steadyRate });
    progress(`${title}, ${whole(steadyRate)}/s: p50 ${milliseconds(steady.acceptedToArrival.p50)} ms`);
    rows.push(throughputRow(`${title}, ${whole(steadyRate)}/s`, [steady]));
  }
  for (const subject of subjects) await subject.stop();
  return rows;
}

/** Returns the median ratio of runs measured in the same round. */
function shareOf(runs: readonly Measurement[], others: readonly Measurement[]): string {
  const shares = runs.map((run, round) => run.perSecond / (others[round]?.perSecond ?? Number.NaN));
  return medianNumber(shares).toFixed(2);
}

function throughputRow(
  title: string,
  runs: readonly Measurement[],
  ceiling: readonly Measurement[] = [],
): string[] {
  const figures = medianOf(runs);
  return [
    title,
    whole(figures.perSecond),
    milliseconds(figures.acceptedToArrival.p50),
    milliseconds(figures.acceptedToArrival.p99),
    milliseconds(figures.sentToArrival.p50),
    milliseconds(figures.sentToArrival.p99),
    figures.statements.toFixed(3),
    whole(figures.walBytes),
    orDash(figures.nodeMicros, whole),
    orDash(figures.postgresMicros, whole),
    orDash(figures.peakMb, whole),
    ceiling.length === 0 ? "" : shareOf(runs, ceiling),
    orDash(figures.foreignShare, (share) => `${Math.round(share * 100)} %`),
  ];
}

// ── backlog ───────────────────────────────────────────────────────────────────────────────────────────────────────

async function backlogTable(world: World, plan: Plan): Promise<string | null> {
  const rows: string[][] = [];
  if (plan.parts.has("backlog"))
    rows.push(drainRow(await drainBacklog(world, plan.backlog, plan.profileDir)));
  if (plan.parts.has("fetch") || plan.parts.has("memory"))
    rows.push(...(await largeBacklogRows(world, plan)));
  return rows.length === 0 ? null : renderTable(["backlog", ""], rows);
}

function drainRow({ deliveries, perSecond }: Drain): string[] {
  progress(`backlog of ${whole(deliveries)}: ${whole(perSecond)}/s`);
  return [`draining ${whole(deliveries)} queued`, `${whole(perSecond)}/s`];
}

async function largeBacklogRows(world: World, { parts, queued: count, memoryMs }: Plan): Promise<string[][]> {
  const rows: string[][] = [];
  const backlog = await prepareBacklog(world);
  let fewMs = Number.NaN;
  if (parts.has("fetch")) {
    await fillBacklog(backlog, smallBacklog);
    fewMs = await fetchMs(backlog);
    rows.push([`one fetch of 300 with ${whole(smallBacklog)} queued, p50`, `${milliseconds(fewMs)} ms`]);
  }
  progress(`inserting ${whole(count)} queued deliveries`);
  await fillBacklog(backlog, count);
  if (parts.has("fetch")) {
    const manyMs = await fetchMs(backlog);
    rows.push([`one fetch of 300 with ${whole(count)} queued, p50`, `${milliseconds(manyMs)} ms`]);
    rows.push(["  ratio of the two (target: at most 2)", (manyMs / fewMs).toFixed(2)]);
  }
  if (parts.has("memory")) {
    progress("delivering them, receivers respond after 200 ms");
    rows.push(...memoryRows(count, await measureMemory(backlog, count, memoryMs)));
  }
  return rows;
}

function memoryRows(count: number, { peakMb, perSecond }: MemoryFigures): string[][] {
  const title = `peak server memory with ${whole(count)} queued`;
  return [
    [title, `${orDash(peakMb, whole)} MB`],
    [`  deliveries to receivers that take 200 ms`, `${whole(perSecond)}/s`],
  ];
}

// ── lists ──────────────────────────────────────────────────────────────────────────────────────────────

async function listsTable(world: World, { parts, lists: count }: Plan): Promise<string | null> {
  if (!parts.has("lists")) return null;
  progress(`inserting ${whole(count)} finished deliveries`);
  const figures = await compareLists(world, count);
  const head = ["a page, ms at", "1,000", "rows", whole(count), "rows", "ratio (target: at most 3)"];
  const rows = figures.map(({ title, few, many }) => [
    title,
    milliseconds(few.ms),
    whole(few.rows),
    milliseconds(many.ms),
    whole(many.rows),
    (many.ms / few.ms).toFixed(1),
  ]);
  return renderTable(head, rows);
}

// ── failing receivers ───────────────────────────────────────────────────────────────────────────────────────────────

async function failuresTable(
  world: World,
  { parts, hole, outage, steadyMs, memoryMs }: Plan,
): Promise<string | null> {
  const rows: string[][] = [];
  if (parts.has("hole")) {
    progress(`healthy endpoints beside an unresponsive one with ${whole(hole)} queued`);
    rows.push(...holeRows(await besideBlackHole(world, hole, steadyMs * 2), hole));
  }
  if (parts.has("slow")) {
    progress("2,000 receivers take 5 s each");
    const { endpoints, mostOpen, mostOpenOfOne, peakMb } = await withSlowReceivers(world, memoryMs);
    rows.push([
      `server memory with ${whole(endpoints)} receivers that take 5 s`,
      `${orDash(peakMb, whole)} MB`,
    ]);
    rows.push(["  open requests in total, per endpoint", `${whole(mostOpen)}, ${mostOpenOfOne}`]);
  }
  if (parts.has("outage")) {
    progress(`all receivers are down while ${whole(outage)} events are published, then recover`);
    const { queued, recoveredMs, mostOpenOfOne } = await afterOutage(world, outage);
    rows.push([
      `after an outage: ${whole(queued)} queued are delivered after`,
      `${milliseconds(recoveredMs / 1000)} s`,
    ]);
    rows.push(["  open requests per endpoint", String(mostOpenOfOne)]);
  }
  return rows.length === 0 ? null : renderTable(["failing receivers", ""], rows);
}

function holeRows({ baseline, beside }: BlackHoleFigures, hole: number): string[][] {
  const shown = ({ sentToArrival: { p50, p99 } }: Measurement): string =>
    `${milliseconds(p50)} / ${milliseconds(p99)} ms`;
  const ratio = beside.sentToArrival.p99 / baseline.sentToArrival.p99;
  return [
    ["healthy endpoints at 1,000/s, sent→arrival p50 / p99", shown(baseline)],
    [`  beside an unresponsive endpoint with ${whole(hole)} queued`, shown(beside)],
    ["  p99 compared with the run without (target: at most 2)", ratio.toFixed(2)],
  ];
}

// ── receiving ───────────────────────────────────────────────────────────────────────────────────────────────────

async function receivingTable(world: World, plan: Plan): Promise<string | null> {
  if (!plan.parts.has("receiving")) return null;
  const figures = await compareReceivers(world, plan, (title, perSecond) =>
    progress(`${title}: ${whole(perSecond)}/s`),
  );
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
  return renderTable(head, figures.map(receivingRow));
}

function receivingRow(figures: ReceivingFigures): string[] {
  const share = (value: number | null): string => (value === null ? "" : value.toFixed(2));
  return [
    figures.title,
    whole(figures.perSecond),
    figures.statements.toFixed(1),
    orDash(figures.nodeMicros, whole),
    orDash(figures.postgresMicros, whole),
    share(figures.ofBare),
    share(figures.ofByHand),
    orDash(figures.foreignShare, (value) => `${Math.round(value * 100)} %`),
  ];
}

function progress(text: string): void {
  console.error(text);
}

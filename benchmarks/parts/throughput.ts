// Measures publishing and delivery, and in alternating runs the ceiling: a process that does only the unavoidable work.
import { type Measurement, measure, medianOf, shareOf, type Workload } from "../measure.ts";
import type { Plan } from "../options.ts";
import { type Subject, startCeiling, startPosthorn } from "../subject.ts";
import { milliseconds, percent, progress, ratio, renderTable, whole } from "../table.ts";
import { batchSize } from "../workload.ts";
import type { World } from "../world.ts";

const modes = ["single", "batch", "https"] as const;
type Mode = (typeof modes)[number];

const events: Record<Mode, { readonly title: string; readonly batch: Workload["batch"] }> = {
  single: { title: "single events", batch: 1 },
  batch: { title: `batches of ${batchSize}`, batch: batchSize },
  https: { title: "single events over https", batch: 1 },
};
const steadyRates = [2_000, 200];
const rewarmMs = 500;

const columns: Readonly<Record<string, (figures: Measurement, ofCeiling: number) => string>> = {
  "deliveries/s": ({ perSecond }) => whole(perSecond),
  "accepted→arrival p50": ({ acceptedP50 }) => milliseconds(acceptedP50),
  "accepted→arrival p99": ({ acceptedP99 }) => milliseconds(acceptedP99),
  "sent→arrival p50": ({ sentP50 }) => milliseconds(sentP50),
  "sent→arrival p99": ({ sentP99 }) => milliseconds(sentP99),
  statements: ({ statements }) => statements.toFixed(3),
  "WAL bytes": ({ walBytes }) => whole(walBytes),
  "Node µs": ({ nodeMicros }) => whole(nodeMicros),
  "PG µs": ({ postgresMicros }) => whole(postgresMicros),
  "peak MB": ({ peakMb }) => whole(peakMb),
  "of ceiling": (_, ofCeiling) => ratio(ofCeiling),
  "others' load": ({ foreignShare }) => percent(foreignShare),
};

export async function throughputTable(world: World, plan: Plan): Promise<string | null> {
  const rows: string[][] = [];
  for (const mode of modes) rows.push(...(await throughputRows(world, plan, mode)));
  return renderTable(["", ...Object.keys(columns)], rows);
}

async function throughputRows(world: World, plan: Plan, mode: Mode): Promise<string[][]> {
  const { parts, profileDir } = plan;
  const { title, batch } = events[mode];
  const isCeilingAlone = !modes.some((each) => parts.has(each));
  const withCeiling = parts.has("ceiling") && (parts.has(mode) || isCeilingAlone);
  const receivers = mode === "https" ? await world.openTlsReceivers() : world.receivers;
  const posthorn = parts.has(mode) ? await startPosthorn(world, mode, profileDir, { receivers }) : null;
  const ceiling = withCeiling ? await startCeiling(world, `ceiling_${mode}`, receivers) : null;
  const checked =
    parts.has("checked") && mode === "single"
      ? await startPosthorn(world, "checked", profileDir, { isChecked: true })
      : null;
  const names = new Map<Subject | null, string>([
    [posthorn, `${title}, 64 connections`],
    [checked, `${title}, with key, schema and limits`],
    [ceiling, `${title}, the ceiling`],
  ]);
  const subjects = [posthorn, checked, ceiling].filter((subject) => subject !== null);
  const runs = new Map<Subject | null, Measurement[]>(subjects.map((subject) => [subject, []]));
  const run = (subject: Subject, durationMs: number, rate: number | null = null) =>
    measure(world, subject, { batch, durationMs, rate });
  for (const subject of subjects) await run(subject, plan.warmUpMs);
  // In short alternating runs, so that all are measured under the same conditions.
  for (let index = 1; index <= plan.runs; index += 1) {
    for (const subject of index % 2 === 1 ? subjects : subjects.toReversed()) {
      // its connections to the receiver were closed as idle while the others ran; a TLS handshake takes 2 ms
      await run(subject, mode === "https" ? plan.warmUpMs : rewarmMs);
      const measured = await run(subject, plan.runMs);
      progress(`${names.get(subject)}, run ${index} of ${plan.runs}: ${whole(measured.perSecond)}/s`);
      runs.get(subject)?.push(measured);
    }
  }
  const runsOf = (subject: Subject | null): Measurement[] => runs.get(subject) ?? [];
  const rows = subjects.map((subject) =>
    throughputRow(names.get(subject) as string, runsOf(subject), subject === ceiling ? [] : runsOf(ceiling)),
  );
  if (checked !== null && posthorn !== null) {
    const share = ratio(shareOf(runsOf(checked), runsOf(posthorn)));
    rows.push([`  compared with those without (target: at least 0.90): ${share}`]);
  }
  // Subjects are stopped one by one: the polls of an idle server would add to PostgreSQL's time per delivery.
  await checked?.stop();
  for (const subject of subjects) {
    if (subject === checked) continue;
    for (const rate of steadyRates) {
      const name = `${title}, ${whole(rate)}/s${subject === ceiling ? ", the ceiling" : ""}`;
      const steady = await run(subject, plan.steadyMs, rate);
      progress(`${name}: p50 ${milliseconds(steady.acceptedP50)} ms`);
      rows.push(throughputRow(name, [steady], []));
    }
    await subject.stop();
  }
  return rows;
}

function throughputRow(
  title: string,
  runs: readonly Measurement[],
  ceiling: readonly Measurement[],
): string[] {
  const figures = medianOf(runs);
  return [title, ...Object.values(columns).map((show) => show(figures, shareOf(runs, ceiling)))];
}

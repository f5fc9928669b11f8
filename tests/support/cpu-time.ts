// The cost of a computation, independent of the load and the speed of the machine.

/** What the reference computation takes on the machine on which the bounds in the tests were measured. */
const referenceMs = 5;

/**
 * Processor time that this process spends in `work`, in milliseconds of the machine on which the bounds were measured:
 * on a machine that takes ten times as long for the reference computation, a tenth counts.
 */
export async function cpuMsOf(work: () => unknown): Promise<number> {
  const msSince = startCpuTime();
  await work();
  return msSince();
}

/** As `cpuMsOf`, until the returned function is called. */
export function startCpuTime(): () => number {
  const slowness = machineSlowness();
  const before = process.cpuUsage();
  return () => cpuMsSince(before) / slowness;
}

/** At least 1, so that a fast machine makes no bound stricter. */
function machineSlowness(): number {
  let bestMs = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 3; run += 1) {
    const before = process.cpuUsage();
    compute();
    bestMs = Math.min(bestMs, cpuMsSince(before));
  }
  return Math.max(1, bestMs / referenceMs);
}

function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** Strings, maps and numbers, as in the code that is measured. */
function compute(): number {
  const counts = new Map<string, number>();
  for (let index = 0; index < 100_000; index += 1) {
    const key = `key ${Math.imul(index, 2_654_435_761) & 1_023}`;
    counts.set(key, (counts.get(key) ?? 0) + key.length);
  }
  return counts.size;
}

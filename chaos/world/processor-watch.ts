// Samples how much of the processor time that the processes under test wanted went to other programs. Only Linux reports
// what this takes.
import { readFileSync } from "node:fs";
import { monotonicMs } from "../../benchmarks/system/monotonic.ts";
import type { ProcessorSample } from "../evidence/evidence.ts";

const intervalMs = 200;
/** The unit of the times in /proc/stat and /proc/<pid>/stat. */
const tickMs = 10;

/** Milliseconds since a process was started. */
interface Usage {
  /** In which its main thread ran. */
  readonly ranMs: number;
  /** In which its main thread was ready to run and waited for a processor. */
  readonly waitedMs: number;
  /** Processor time of all its threads. */
  readonly usedMs: number;
}

export class ProcessorWatch {
  readonly samples: ProcessorSample[] = [];
  readonly #roots: () => readonly number[];
  readonly #timer: NodeJS.Timeout | undefined;
  #sampledAt = monotonicMs();
  #usages = new Map<number, Usage>();
  #machineMs = machineUsedMs();

  /**
   * Watches these processes and those that they started. Only main threads are asked whether they wait: they run the
   * JavaScript, and a process of PostgreSQL has no other thread.
   */
  constructor(roots: () => readonly number[]) {
    this.#roots = roots;
    if (process.platform === "linux") this.#timer = setInterval(() => this.#sample(), intervalMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #sample(): void {
    const usages = new Map<number, Usage>();
    let [ranMs, waitedMs, usedMs] = [0, 0, 0];
    for (const pid of withDescendants(this.#roots())) {
      const usage = usageOf(pid);
      if (usage === null) continue;
      usages.set(pid, usage);
      const before = this.#usages.get(pid) ?? usage;
      ranMs += usage.ranMs - before.ranMs;
      waitedMs += usage.waitedMs - before.waitedMs;
      usedMs += usage.usedMs - before.usedMs;
    }
    const machineMs = machineUsedMs();
    const othersMs = Math.max(0, machineMs - this.#machineMs - usedMs);
    const [from, until] = [this.#sampledAt, monotonicMs()];
    this.#usages = usages;
    this.#machineMs = machineMs;
    this.#sampledAt = until;
    this.samples.push({ from, until, share: 1 - shareOf(waitedMs, ranMs) * shareOf(othersMs, usedMs) });
  }
}

const shareOf = (part: number, rest: number): number => (part > 0 ? part / (part + Math.max(0, rest)) : 0);

/** Returns null if the process has ended. */
function usageOf(pid: number): Usage | null {
  const [schedule, stat] = [read(`/proc/${pid}/schedstat`), read(`/proc/${pid}/stat`)];
  if (schedule === null || stat === null) return null;
  const [ran = 0, waited = 0] = schedule.split(" ").map(Number);
  // the name before the last bracket may contain spaces
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = Number(fields[11]) + Number(fields[12]);
  return { ranMs: ran / 1e6, waitedMs: waited / 1e6, usedMs: ticks * tickMs };
}

/** Processor time of all programs, in the kernel, and taken by other virtual machines. */
function machineUsedMs(): number {
  const [, ...ticks] = (read("/proc/stat") ?? "").split("\n", 1)[0]?.trim().split(/\s+/) ?? [];
  const [user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0, steal = 0] = ticks.map(Number);
  return (user + nice + system + irq + softIrq + steal) * tickMs;
}

function withDescendants(roots: readonly number[]): Set<number> {
  const found = new Set(roots);
  for (const pid of found) {
    const children = read(`/proc/${pid}/task/${pid}/children`) ?? "";
    for (const child of children.split(" ").filter(Boolean)) found.add(Number(child));
  }
  return found;
}

function read(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

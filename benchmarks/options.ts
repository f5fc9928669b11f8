// Command-line options and the scale of the measurements.
import { parseArgs } from "node:util";

export const parts = [
  "single",
  "batch",
  "https",
  "checked",
  "ceiling",
  "processes",
  "backlog",
  "fetch",
  "memory",
  "lists",
  "hole",
  "slow",
  "outage",
  "receiving",
] as const;
export type Part = (typeof parts)[number];

const fullScale = {
  runs: 9,
  runMs: 2_000,
  /** Duration of a run at a fixed rate. */
  steadyMs: 5_000,
  warmUpMs: 3_000,
  backlog: 100_000,
  queued: 1_000_000,
  memoryMs: 15_000,
  lists: 1_000_000,
  hole: 100_000,
  outage: 20_000,
};

const quickScale: typeof fullScale = {
  runs: 1,
  runMs: 2_000,
  steadyMs: 2_000,
  warmUpMs: 2_000,
  backlog: 20_000,
  queued: 100_000,
  memoryMs: 5_000,
  lists: 20_000,
  hole: 10_000,
  outage: 5_000,
};

export type Plan = Readonly<typeof fullScale> & {
  readonly parts: ReadonlySet<Part>;
  readonly profileDir: string | undefined;
};

const usage = `npm run bench -- [--only ${parts.join(",")}] [--quick] [--profile folder]
  --only     measures these parts; all by default
  --quick    one short run each, with smaller backlogs
  --profile  writes a CPU profile of every server to the folder (slows it down)`;

/** Returns null, after printing the usage, for --help and for invalid options. */
export function readPlan(args: readonly string[]): Plan | null {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        only: { type: "string" },
        quick: { type: "boolean", default: false },
        profile: { type: "string" },
        help: { type: "boolean", default: false },
      },
    });
    const scale = values.quick ? quickScale : fullScale;
    if (!values.help) return { ...scale, parts: readParts(values.only), profileDir: values.profile };
    console.log(usage);
  } catch (error) {
    console.error(`${(error as Error).message}\n${usage}`);
    process.exitCode = 1;
  }
  return null;
}

function readParts(only: string | undefined): ReadonlySet<Part> {
  if (only === undefined) return new Set(parts);
  const names = only.split(",").map((name) => name.trim());
  const unknown = names.find((name) => !(parts as readonly string[]).includes(name));
  if (unknown !== undefined) throw new Error(`Unknown part "${unknown}".`);
  return new Set(names as Part[]);
}

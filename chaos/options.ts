// Command-line options and the scale of a run.
import { parseArgs } from "node:util";
import { didYouMean } from "@posthorn/wire";
import { type PlantName, plantNames } from "./plant.ts";

export interface Options {
  readonly seed: number;
  readonly scale: Scale;
  readonly plant: PlantName | null;
  /** Runs the planted bug, or every one in turn, and fails unless each is detected. */
  readonly isSelfTest: boolean;
  /** Keeps the logs even if all invariants hold. */
  readonly keepsLogs: boolean;
}

/** Durations and rates of a run. */
export interface Scale {
  /** Without faults; the rest of the run is compared with this phase. */
  readonly baselineMs: number;
  /** One receiver accepts every request and never responds; the others are healthy. */
  readonly blackHoleMs: number;
  readonly chaosMs: number;
  /** Limit for delivering everything after all faults were removed. */
  readonly convergeMs: number;
  /** Events are published again, and must be delivered as in the baseline. */
  readonly finalMs: number;
  readonly eventsPerSecond: number;
  readonly leaseMs: number;
  readonly timeoutMs: number;
  /** Delays between attempts; the last one is repeated. */
  readonly gapsMs: readonly number[];
  /** Time between two faults. */
  readonly pauseMs: readonly [least: number, most: number];
  /** How long all receivers are unreachable, in the middle of the run. */
  readonly outageMs: number;
}

export const maxAttempts = 60;

function scaleOf(seconds: number, eventsPerSecond: number): Scale {
  return {
    baselineMs: 20_000,
    blackHoleMs: 10_000,
    chaosMs: seconds * 1_000 - 40_000,
    convergeMs: 60_000,
    finalMs: 10_000,
    eventsPerSecond,
    leaseMs: 4_000,
    timeoutMs: 2_000,
    gapsMs: [200, 500, 1_000, 2_000, 4_000, 8_000],
    pauseMs: [1_000, 4_000],
    outageMs: 20_000,
  };
}

/** Takes about 45 s in total on two shared cores. */
export function smokeScale(eventsPerSecond: number): Scale {
  return {
    baselineMs: 4_000,
    blackHoleMs: 4_000,
    chaosMs: 20_000,
    convergeMs: 30_000,
    finalMs: 2_000,
    eventsPerSecond,
    leaseMs: 2_000,
    timeoutMs: 2_000,
    gapsMs: [200, 500, 1_000, 2_000],
    pauseMs: [600, 1_500],
    outageMs: 0,
  };
}

/** The scale for a planted bug: waits less for convergence, and a bug that needs no faults gets a shorter run. */
export function bugScale(eventsPerSecond: number, needsFaults: boolean): Scale {
  const smoke = { ...smokeScale(eventsPerSecond), convergeMs: 8_000 };
  return needsFaults
    ? smoke
    : { ...smoke, baselineMs: 1_000, blackHoleMs: 0, chaosMs: 5_000, convergeMs: 4_000, finalMs: 0 };
}

const usage = `npm run chaos -- [--seed N] [--seconds N] [--rate N] [--smoke] [--plant bug] [--self-test] [--keep]
  --seed       determines all faults and events; random by default
  --seconds    how long events are published, at least 60; default 180. Recovery takes up to a minute more
  --rate       events per second; default 60, with --smoke 40
  --smoke      a short run of about 45 s
  --plant      plants a bug in the engine, which must be detected: ${plantNames.join(", ")}
  --self-test  runs every bug in turn, or the one of --plant, with up to three seeds; fails unless each is detected
  --keep       keeps the logs even if all invariants hold`;

/** Returns null, after printing the usage, for --help and for invalid options. */
export function readOptions(args: readonly string[]): Options | null {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        seed: { type: "string", default: String(Date.now() % 1_000_000) },
        seconds: { type: "string" },
        rate: { type: "string" },
        smoke: { type: "boolean", default: false },
        plant: { type: "string" },
        "self-test": { type: "boolean", default: false },
        keep: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    });
    const { seed, seconds, smoke, plant } = values;
    if (smoke && seconds !== undefined) throw new Error("--smoke cannot be combined with --seconds.");
    const rate = whole("--rate", values.rate ?? (smoke ? "40" : "60"), 1, 1_000);
    const scale = smoke ? smokeScale(rate) : scaleOf(whole("--seconds", seconds ?? "180", 60, 3_600), rate);
    const options = {
      seed: whole("--seed", seed, 0, 2 ** 32 - 1),
      scale,
      plant: plant === undefined ? null : readPlant(plant),
      isSelfTest: values["self-test"],
      keepsLogs: values.keep,
    };
    if (!values.help) return options;
    console.log(usage);
  } catch (error) {
    console.error(`${(error as Error).message}\n${usage}`);
    process.exitCode = 1;
  }
  return null;
}

function whole(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  throw new Error(`${name} must be a whole number from ${least} to ${most}; it is "${text}".`);
}

function readPlant(text: string): PlantName {
  const name = plantNames.find((known) => known === text);
  if (name === undefined) throw new Error(`Unknown bug "${text}". ${didYouMean(text, plantNames)}`);
  return name;
}
